"""The reference of policies, which `dpproxy policy manual` prints."""

from __future__ import annotations

from pathlib import Path

MANUAL = Path(__file__).with_suffix(".md")
