"""The SQL that makes the role with which dpproxy reads, which `dpproxy policy role` prints."""

from __future__ import annotations

from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".sql")
