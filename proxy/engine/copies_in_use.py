"""Which prepared copies are read, and as of when: as the session that reads them says, before the charge.

Nothing is looked at in the background. The first statement or EXPLAIN about a table finds its copy, and is
planned again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.compiler.copy_view import FoundCopy, wanted_copies
from proxy.drawing.protected_reads import ProtectedSession
from proxy.engine.unit_words import with_article
from proxy.policy.finding_names import FindingName
from proxy.policy.policy_model import IdentifierUnit, Policy

# By the protected table: the time that its owner states, as PostgreSQL prints it in UTC.
AsOf = Mapping[TableName, str]


class CopiesChanged(Exception):
    """Other copies can be read than those that a plan was offered. This try has charged nothing.

    What was claimed before stays paid: an answer that another session drew, and that this one would draw in its
    place, is of a copy that is gone.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usable:
    """until: by this process's clock, the age being that of the server."""

    as_of: str
    until: float


class CopiesInUse:
    """What the last sessions have found of the copies that a policy names."""

    def __init__(self, policy: Policy, catalog: Catalog) -> None:
        self._catalog = catalog
        self._named = {
            table.name: table.prepared for table in policy.protected() if table.prepared is not None
        }
        self._units = {
            table.name: table.unit.kind
            for table in policy.protected()
            if isinstance(table.unit, IdentifierUnit)
        }
        self._accepted = frozenset(
            one.where for one in policy.accepted if one.name is FindingName.COPY_IS_NOT_AS_PRINTED
        )
        self._wanted = wanted_copies(policy, catalog)
        self._usable: dict[TableName, _Usable] = {}

    def usable(self) -> AsOf:
        """The copies that can be read now, as far as is known."""
        now = time.monotonic()
        return {name: one.as_of for name, one in self._usable.items() if now < one.until}

    def texts(self, as_of: AsOf) -> tuple[str, ...]:
        """What is told with answers of copies, a line for each table."""
        found = []
        for name, text in sorted(as_of.items()):
            stored, unit = self._catalog.tables[self._named[name].table], self._units[name]
            assert stored.row_bound is not None  # a plan was made with it
            found.append(copy_text(name, text, stored.row_bound.rows, unit))
        return tuple(found)

    async def confirm(
        self, session: ProtectedSession, names: Collection[TableName], offered: AsOf
    ) -> None:
        """Look at copies in the transaction that is to read them.

        Args:
            session: In which nothing was read so far.
            names: The protected tables of a statement that have copies.
            offered: Of these, the copies that its plan was made with, or could have been.

        Raises:
            CopiesChanged: Others can be read. A plan that is made now is offered these.
        """
        if not names:
            return
        found = await session.copies({name: self._wanted[name] for name in names})
        now = time.monotonic()
        for name in names:
            self._usable.pop(name, None)
            copy = found.get(name)
            if copy is not None and self._is_good(copy, name):
                until = now + self._named[name].max_age - copy.age
                self._usable[name] = _Usable(as_of=copy.as_of, until=until)
        if {name: one.as_of for name, one in self._usable.items() if name in names} != offered:
            raise CopiesChanged

    def _is_good(self, copy: FoundCopy, name: TableName) -> bool:
        """Young enough, with the bound that plans are made by, and filled as is printed or accepted. No copy is
        of a time to come."""
        named = self._named[name]
        table = self._catalog.tables.get(named.table)
        if table is None or table.row_bound != copy.bound or not 0 <= copy.age < named.max_age:
            return False
        return copy.is_as_printed or not self._accepted.isdisjoint((None, str(name)))


def copy_text(table: TableName, as_of: str, rows: int, unit: str) -> str:
    """Say of when the rows of a table are, and how many of a unit there can be.

    >>> copy_text(TableName("shop", "sales"), "2026-11-28 01:00:00.25+00", 400, "customer")
    'rows of shop.sales are those of its prepared copy, as of 2026-11-28 01:00:00+00, at most 400 of a customer'
    """
    return (
        f"rows of {table} are those of its prepared copy, as of {_without_fraction(as_of)},"
        f" at most {rows:,} of {with_article(unit)}"
    )


def _without_fraction(text: str) -> str:
    whole, dot, rest = text.partition(".")
    return f"{whole}+{rest.partition('+')[2]}" if dot else whole
