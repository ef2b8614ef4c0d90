"""What `serve` writes of statements on protected tables: the options of its query log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LoggedQueries(str, Enum):
    PROTECTED = "protected"
    NONE = "none"


class LoggedAnalysts(str, Enum):
    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLogging:
    """The demo writes none. traces: whether spans go to a collector."""

    queries: LoggedQueries = LoggedQueries.NONE
    analysts: LoggedAnalysts = LoggedAnalysts.NAME
    traces: bool = False
