"""Whom the listeners let in, and to which databases: the ledger's word, as of a second ago.

It decides who gets a session; each charge is decided by the ledger itself, in the statement that charges
(ledger.may_charge). While the ledger cannot be asked, it stays as it was: nothing can be charged then.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.ledger.users import LedgerPeople


class Admission:
    """
    Given    sources: by the name that clients give a database, the number of its data in the ledger
    """

    def __init__(self, sources: Mapping[str, int], people: LedgerPeople) -> None:
        self.sources = dict(sources)
        self.people = people

    def may_query(self, analyst: str, database: str) -> bool:
        """Of whoever has logged in. Refuses nothing: a database that is not served, nobody may."""
        source = self.sources.get(database)
        if source is None:
            return False
        allowed = self.people.allowed.get(source)
        return allowed is None or analyst in allowed

    def number_of(self, analyst: str) -> int | None:
        return self.people.analysts.get(analyst)

    def identity_of(self, analyst: str) -> tuple[int, bytes] | None:
        """Their number, and a digest of what their password is checked by. None: there is nobody."""
        number = self.people.analysts.get(analyst)
        return None if number is None else (number, self.people.passwords[number])

    def is_in(self, analyst: str, group: str) -> bool:
        return analyst in self.people.groups.get(group, frozenset())


def no_access(database: str) -> tuple[str, str, str]:
    """SQLSTATE, message and hint of who may not query it; only for who has logged in."""
    return (
        "42501",
        f'permission denied for database "{database}"',
        "Not every analyst may query it: ask the operator, who can `dpproxy access allow` you.",
    )
