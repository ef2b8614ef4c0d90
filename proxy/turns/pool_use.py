"""How many connections of a pool are in use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    idle: int
    used: int
    limit: int
