"""Which tables are about the people of a policy, by keys and references; and unknown analysts.

Two columns that a foreign key joins hold values of one kind. So the columns that hold an identifier are those
that foreign keys lead to from the unit columns, in either direction; and a table is about people where it has
such a column, or refers to a table that is about people.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from proxy.catalog.catalog_model import Catalog, ForeignKey, TableName
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding, Verdict, judged
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, PublicTable

Place = tuple[TableName, str]  # a column
_VIEWS_DEEP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What the catalogue says of all relations, be they in the policy or not.

    reads: of a view, what its definition reads; children: of a parent, its partitions and heirs; sources: of a
    column of a view the one that it shows as it is.
    """

    columns: Mapping[TableName, frozenset[str]]
    foreign_keys: Mapping[TableName, tuple[ForeignKey, ...]]
    reads: Mapping[TableName, frozenset[TableName]]
    children: Mapping[TableName, frozenset[TableName]]
    sources: Mapping[Place, Place] = field(default_factory=dict)

    def source_of(self, place: Place) -> Place:
        """Through views of views; the column itself, where it is no other's."""
        for _ in range(_VIEWS_DEEP):
            if place not in self.sources:
                break
            place = self.sources[place]
        return place

    def readable_from(self, name: TableName) -> frozenset[TableName]:
        """Every other relation whose rows it may show, through views and to children."""
        return _closure(name, lambda at: (*self.reads.get(at, ()), *self.children.get(at, ())))

    def children_of(self, name: TableName) -> frozenset[TableName]:
        """Children, and theirs: their rows are its own."""
        return _closure(name, lambda at: self.children.get(at, ()))


def _closure(
    start: TableName, step: Callable[[TableName], Iterable[TableName]]
) -> frozenset[TableName]:
    found: set[TableName] = set()
    waiting = [start]
    while waiting:
        for other in step(waiting.pop()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return frozenset(found - {start})


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """holding: columns that hold an identifier, with the column that each was found from (None: the policy says
    so); listing: those of them that an identifier refers to; about: tables about people, with the table that
    each was found from."""

    holding: Mapping[Place, Place | None]
    listing: Collection[Place]
    about: Mapping[TableName, TableName | None]


def people(
    policy: Policy,
    catalog: Catalog,
    links: Links,
    of: Iterable[ProtectedTable],
    *,
    with_keys: bool = True,
) -> People:
    """
    Given    of: the tables whose units are the people; with_keys: a primary key names a person (or what is
             theirs) as a unit column does
    """
    protected = tuple(of)
    edges = _Edges(policy, links)
    seeds = [place for table in protected for place in _seeds(table, catalog, with_keys)]
    holding = _reached(seeds, edges, forward_only=False)
    listing = _reached(seeds, edges, forward_only=True).keys() - set(seeds)
    return People(holding=holding, listing=listing, about=_about(policy, links, protected, holding))


def _reached(
    seeds: Iterable[Place], edges: _Edges, *, forward_only: bool
) -> dict[Place, Place | None]:
    reached: dict[Place, Place | None] = dict.fromkeys(seeds)
    waiting = list(reached)
    while waiting:
        place = waiting.pop()
        for other, is_forward in edges.beside(place):
            if other not in reached and (is_forward or not forward_only):
                reached[other] = place
                waiting.append(other)
    return reached


def _seeds(table: ProtectedTable, catalog: Catalog, with_keys: bool) -> Iterator[Place]:
    if isinstance(table.unit, IdentifierUnit):
        yield table.name, table.unit.column
    there = catalog.tables.get(table.name)
    if with_keys and there is not None and len(there.primary_key) == 1:
        yield table.name, there.primary_key[0]


def _about(
    policy: Policy,
    links: Links,
    protected: Iterable[ProtectedTable],
    holding: Mapping[Place, Place | None],
) -> dict[TableName, TableName | None]:
    """What refers to a table about people is about them. A public table is found itself: not on through it."""
    parents = _turned(links.children)
    referring: dict[TableName, list[TableName]] = defaultdict(list)
    for name, keys in links.foreign_keys.items():
        for key in keys:
            if key.target != name:
                referring[key.target].append(name)
    about: dict[TableName, TableName | None] = dict.fromkeys(table.name for table in protected)
    for (name, _), came_from in holding.items():
        about.setdefault(name, None if came_from is None else came_from[0])
    waiting = list(about)
    while waiting:
        name = waiting.pop()
        if isinstance(policy.tables.get(name), PublicTable):
            continue
        beside = (*referring[name], *links.children.get(name, ()), *parents[name])
        for other in beside:
            if other not in about:
                about[other] = name
                waiting.append(other)
    return about


def _turned(
    pairs: Mapping[TableName, frozenset[TableName]],
) -> defaultdict[TableName, list[TableName]]:
    turned: defaultdict[TableName, list[TableName]] = defaultdict(list)
    for name, others in pairs.items():
        for other in others:
            turned[other].append(name)
    return turned


@dataclass(slots=True)
class _Edges:
    """The columns beside a column that hold values of the same kind."""

    policy: Policy
    links: Links
    _to: dict[Place, list[tuple[Place, bool]]] = field(init=False)
    _parents: Mapping[TableName, list[TableName]] = field(init=False)

    def __post_init__(self) -> None:
        self._to = defaultdict(list)
        self._parents = _turned(self.links.children)
        for name, keys in self.links.foreign_keys.items():
            for key in keys:
                for column, target in zip(key.columns, key.target_columns, strict=True):
                    self._join((name, column), (key.target, target))
        for table in self.policy.protected():
            for one in table.columns.values():
                if one.references is not None:
                    self._join((table.name, one.name), one.references)

    def _join(self, source: Place, target: Place) -> None:
        self._to[source].append((target, True))
        self._to[target].append((source, False))

    def beside(self, place: Place) -> Iterator[tuple[Place, bool]]:
        """Whether the step is from what refers to what is referred to."""
        yield from self._to.get(place, ())
        name, column = place
        # A column of a view is most likely that of the same name in a table that the view reads.
        read = (
            other
            for other in self.links.reads.get(name, ())
            if not isinstance(self.policy.tables.get(other), PublicTable)
        )
        for other in (*self.links.children.get(name, ()), *self._parents.get(name, ()), *read):
            if column in self.links.columns.get(other, ()):
                yield (other, column), True


# Names of analysts and groups in a policy that the ledger does not know.
#
# Those who know no ledger do not look: neither such a finding nor its acceptance is theirs to judge.

OF_PEOPLE = frozenset({FindingName.NO_SUCH_ANALYST, FindingName.NO_SUCH_GROUP})


def people_verdict(policy: Policy, analysts: Collection[str], groups: Collection[str]) -> Verdict:
    """Hold the names in `budgets` against the ledger.

    Args:
        policy: Its acceptances of these findings are judged, too.
        analysts: All who were added and not removed.
        groups: Those with a member.
    """
    accepted = [one for one in policy.accepted if one.name in OF_PEOPLE]
    return judged(_unknown_people(policy, analysts, groups), accepted)


def _unknown_people(
    policy: Policy, analysts: Collection[str], groups: Collection[str]
) -> Iterator[Finding]:
    for name, instead in _strangers(policy.budgets.analysts, analysts):
        yield Finding(
            name=FindingName.NO_SUCH_ANALYST,
            where=name,
            what=f"budgets.analysts.{name}: there is no analyst with this name, so nobody has this budget",
            fix=f"{instead}add the analyst (dpproxy user add {name}), or remove the line",
            path=("budgets", "analysts", name),
        )
    for name, instead in _strangers(policy.budgets.groups, groups):
        yield Finding(
            name=FindingName.NO_SUCH_GROUP,
            where=name,
            what=f"budgets.groups.{name}: no analyst is in this group, so the budget limits nobody",
            fix=f"{instead}add a member (dpproxy user group add {name} ANALYST), or remove the line",
            path=("budgets", "groups", name),
        )


def _strangers(named: Collection[str], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each unknown name, and how the fix begins."""
    for name in sorted(set(named) - set(known)):
        close = difflib.get_close_matches(name, sorted(known), n=1)
        yield name, f"write '{close[0]}', if that is meant; or " if close else ""
