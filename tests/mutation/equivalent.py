"""Mutants that no test can kill, each with the reason: the function, the line, what it becomes."""

from __future__ import annotations

from collections.abc import Mapping

EQUIVALENT: Mapping[tuple[str, str, str], str] = {}
