"""Values that stand in an expression without being parsed with it, each tagged with what it is."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.base.sql_types import SqlType


@dataclass(frozen=True, slots=True)
class ClientParameter:
    """$number of the client's own statement, its value known when the statement is run."""

    number: int


@dataclass(frozen=True, slots=True)
class ClientArray:
    """An array, known when the statement is run; numbered with the parameters. is_all: a condition is on all of
    its elements, not on any."""

    number: int
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A literal of the statement in a form that only PostgreSQL's input functions read ('June 1, 2023',
    'infinity'), and the type as which they read it. The shadow does, when the statement is run."""

    text: str
    type: SqlType


@dataclass(frozen=True, slots=True)
class CastParameter:
    """$number::type of a parameter that comes as a text."""

    number: int
    type: SqlType


@dataclass(frozen=True, slots=True)
class ScalarAnswer:
    """The one value of a scalar subquery, known once that has been answered. index: among those of the
    statement."""

    index: int
