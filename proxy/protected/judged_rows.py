"""Rows of public tables, which may be read only while the policy has no open severe finding.

A policy is checked when it is taken up. The database can change later: a public view is defined anew, or a
partition with other rows is attached. So each reader of public rows asks for the verdict again. While the
proxy serves, a finding withholds the rows of the tables that it concerns, and of no others. A change
between verdict and reading, and one that was undone meanwhile, shows in the catalogue's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TypeVar

import psycopg
from psycopg import sql

from proxy.base.errors import Fault
from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import Policy, PublicTable

_STATE = files("proxy.protected").joinpath("catalogue_state.sql").read_text(encoding="utf-8")
_ATTEMPTS = 3  # a migration of another table changes the catalogue, too

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFinding:
    """Why public rows are not read.

    Attributes:
        where: The table, role or setting, as `accept` names it.
        name: Of the finding, or what the check of the policy says.
        closes: Tables of which no public row is copied, and that no statement reads. None: all.
    """

    where: str
    name: str
    closes: frozenset[TableName] | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.name}"


class RowsWithheld(RuntimeError):
    """The policy has open severe findings: no public row is read. Its text quotes no row."""

    def __init__(self, findings: Sequence[OpenFinding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(map(str, findings)))


class CatalogueMoved(RuntimeError):
    """The catalogue changed while public rows were read: what was read is thrown away."""

    def __init__(self) -> None:
        super().__init__("the database was changed while public tables were read")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows:
    """A right to read public rows, made by `of_all` and `of_some` only.

    Attributes:
        policy: That was judged. It says which tables are public.
        state: Of the catalogue of its source, before the verdict.
        findings: Open ones, all of which tell the tables that they close.
    """

    policy: Policy = field(repr=False)
    state: str
    findings: tuple[OpenFinding, ...] = ()

    @classmethod
    def of_all(cls, policy: Policy, state: str, findings: Sequence[OpenFinding]) -> JudgedRows:
        """Give the right to read the rows of all public tables.

        Args:
            policy: That was judged.
            state: Of the catalogue, before it was judged.
            findings: What is severe and open.

        Raises:
            RowsWithheld: Something was found.
        """
        if findings:
            raise RowsWithheld(findings)
        return cls(policy=policy, state=state)

    @classmethod
    def of_some(cls, policy: Policy, state: str, findings: Sequence[OpenFinding]) -> JudgedRows:
        """Give the right to read the rows of the public tables that nothing closes.

        Args:
            policy: As of `of_all`.
            state: As of `of_all`.
            findings: As of `of_all`.

        Raises:
            RowsWithheld: One of them closes all tables.
        """
        if any(one.closes is None for one in findings):
            raise RowsWithheld(findings)
        return cls(policy=policy, state=state, findings=tuple(findings))

    @property
    def closed(self) -> frozenset[TableName]:
        """Tables of which no row may be read."""
        return frozenset(name for one in self.findings for name in one.closes or ())

    @contextmanager
    def copied(self, name: TableName, columns: Sequence[str]) -> Iterator[Iterable[bytes]]:
        """Read rows of a public table, as COPY writes them in text. Nothing else copies rows out of the source.

        Args:
            name: Of the table.
            columns: Of the table, at least one.

        Raises:
            Fault: The policy does not show these columns, or a finding closes the table.
            psycopg.Error: The table cannot be read.
        """
        table = self.policy.tables.get(name)
        if not isinstance(table, PublicTable) or not all(map(table.has, columns)):
            raise Fault("rows are copied that the policy does not publish")
        if name in self.closed:
            raise Fault("rows are copied of a table that a finding closes")
        read = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
            sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(*name)
        )
        # Settings are SET: as `options` they would take the place of those that the source names.
        with psycopg.connect(self.policy.source, client_encoding="utf8") as source:
            source.read_only = True
            source.execute("SET datestyle = 'ISO'")
            with source.cursor().copy(read) as blocks:
                yield map(bytes, blocks)

    def confirm(self) -> None:
        """Check after reading that the verdict was about the same catalogue.

        Raises:
            CatalogueMoved: Throw away what was read.
            psycopg.Error: As `judge`.
        """
        if catalogue_state(self.policy.source) != self.state:
            raise CatalogueMoved


def catalogue_state(source: str) -> str:
    """Digest the versions of all catalogue rows that decide what a table or view shows.

    A row that is changed and changed back has another version. Temporary tables do not count.

    Raises:
        psycopg.Error: The database cannot be asked.
    """
    with psycopg.connect(source, autocommit=True, connect_timeout=10) as connection:
        connection.execute("SET search_path = pg_catalog")
        row = connection.execute(_STATE.encode()).fetchone()
    assert row is not None
    return str(row[0])


def with_judged_rows(judge: Callable[[], JudgedRows], act: Callable[[JudgedRows], T]) -> T:
    """Judge and act. Do both again if the catalogue changed meanwhile.

    Args:
        judge: Gives the right to read.
        act: Reads, and calls `confirm` before anybody sees what was read.

    Raises:
        RowsWithheld: As `judge`.
        CatalogueMoved: The catalogue changed in each attempt.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return act(judge())
        except CatalogueMoved:
            continue
    return act(judge())
