"""Conditions of the kernel that no test can miss, each with the reason: file, function, what goes."""

from __future__ import annotations

from collections.abc import Mapping

EQUIVALENT_CONDITIONS: Mapping[tuple[str, str, str], str] = {}
