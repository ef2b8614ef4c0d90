"""What a block of a plan asks, in one form: two blocks of equal question and terms have the same noisy answer.

The question is what is measured, the terms are how exactly; neither is how the answer is shown. Every field of
a plan is in one of the three, or this module does not load: what is new is never forgotten silently.

Source  docs/design/reuse.md 1
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import get_args

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.bound_choices import ValueChoice
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import Neighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
    read_tables,
)
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir.expressions import Case, ColumnRef, Constant, Expression, TextCall, TextFunction
from proxy.query.ir.rebuilding import rebuild, rewrite, with_parts
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.reuse.canonical_form import CanonicalForm, canonical_condition

# By class: its question, its terms, what only shows.
_PARTS: Mapping[type, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {
    NoisyStatistic: (
        frozenset({"statistic", "of", "total"}),
        frozenset({"noise", "loss"}),
        frozenset({"aggregate"}),
    ),
    DistinctCount: (
        frozenset({"operand", "condition", "of_unit", "is_long"}),
        frozenset({"noise", "loss"}),
        frozenset({"aggregate"}),
    ),
    RecentredMean: (
        frozenset({"measured", "output_grid"}),
        frozenset({"loss"}),
        frozenset({"aggregate"}),
    ),
    DeviationMean: (
        frozenset({"measured", "output_grid", "declared", "square_share"}),
        frozenset({"loss"}),
        frozenset({"aggregate", "centres", "never_null"}),
    ),
    OrderStatistic: (
        frozenset({"measured", "weights"}),
        frozenset({"needed", "loss", "size"}),
        frozenset({"aggregate"}),  # but for its kind and fraction
    ),
    SampleAggregate: (
        frozenset({"measured", "output_grid", "low", "high", "fill"}),
        frozenset({"partitions", "mechanism", "gate", "loss"}),
        frozenset({"aggregate", "may_be_best"}),  # but for its kind
    ),
    UnitExtreme: (
        frozenset({"measured", "keeps_one_group"}),
        frozenset({"loss"}),
        frozenset({"aggregate", "is_open"}),  # but for its kind
    ),
    KeptUnits: (
        frozenset({"measured", "keeps_one_group"}),
        frozenset({"noise", "loss"}),
        frozenset({"aggregate"}),
    ),
    BlockPlan: (
        frozenset(
            {"source", "neighbours", "where", "keys", "grouped", "releases", "combinations"}
            | {"unowned", "selection", "rows_choice", "value_choices", "weight_choice"}
        ),
        frozenset({"sub_partitions"}),
        frozenset(
            {"answers", "intervals", "expressions", "outputs", "compared", "is_summed"}
            | {
                "withheld",
                "unstated",
                "clipped",
                "least_answers",
                "is_rounded",
                "has_truths",
                "most_stored",
                "present",
                "text_characters",
                "beyond",
                "clamped",
                "coarse",
                "kept_totals",
                "unit_name",
                "reach",  # which follows from the source and the keys
                "top",
                "row_choices",
                "most_values",
                "fewest",  # of a release that is part of the question
            }
        ),
    ),
}
for _kind, _parts in _PARTS.items():
    _names = [one.name for one in fields(_kind)]
    assert sorted(_names) == sorted(name for part in _parts for name in part), _kind

_EXPRESSIONS = get_args(Expression)
_LEFT_OUT = {"LaplaceNoise": frozenset({"gaussian"})}  # proposed, not used


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockQuestion:
    """question, terms: canonical texts; keys, releases: the plan's, by number, in the order of these texts.
    about: of what rows, without groups and what is measured; names: of its keys, without their values, and of
    what is measured, in that order."""

    question: str
    terms: str
    keys: tuple[int, ...]
    releases: tuple[int, ...]
    about: str
    key_names: tuple[str, ...]
    release_names: tuple[str, ...]


def question_of(block: BlockPlan) -> BlockQuestion:
    """
    Of a block that is compared with earlier answers the text does not say with which: the caller adds it.

    Given    block: bound to its constants; where bounds are chosen, before they are
    Refuses  NotCanonical
    """
    form = CanonicalForm(_LEFT_OUT)
    form.number(_aliases(block.source))

    def normal(part: Expression) -> Expression:
        return _normal(part, form)

    source = form.text(rewrite(block.source, normal))
    where = "~" if block.where is None else form.text(normal(block.where))
    keys = sorted((*_key(key, form), number) for number, key in enumerate(block.keys))
    order = tuple(number for *_, number in keys)
    shape = shape_of(block)
    releases = sorted(
        (form.text(_question(release, shape, form)), form.text(_terms(release)), number)
        for number, release in enumerate(block.releases)
    )
    what = (
        source,
        where,
        form.text(block.neighbours),
        form.text(block.grouped),
        form.text(block.unowned),
        form.text(_combinations(block, order)),
        form.text(block.selection),
        form.text(block.rows_choice),
        *sorted(form.text(_value_choice(one, form)) for one in block.value_choices),
        *(form.text(text) for text in _weight_choice(block)),
        *(text for text, *_ in keys),
        *(text for text, _, _ in releases),
    )
    terms = (form.text(block.sub_partitions), *(text for _, text, _ in releases))
    return BlockQuestion(
        question=form.text(what),
        terms=form.text(terms),
        keys=order,
        releases=tuple(number for *_, number in releases),
        about=_about(block, source, where, form),
        key_names=tuple(_name(text) for _, text, _ in keys),
        release_names=tuple(_name(text) for text, *_ in releases),
    )


def about_of(block: BlockPlan) -> str:
    """BlockQuestion.about alone."""
    form = CanonicalForm(_LEFT_OUT)
    form.number(_aliases(block.source))
    source = form.text(rewrite(block.source, lambda part: _normal(part, form)))
    where = "~" if block.where is None else form.text(_normal(block.where, form))
    return _about(block, source, where, form)


def _about(block: BlockPlan, source: str, where: str, form: CanonicalForm) -> str:
    return form.text((source, where, form.text(block.unowned), _units(block.neighbours, form)))


def column_name(block: BlockPlan, column: ColumnRef) -> str:
    """The name of a key that is a column, were it one."""
    form = CanonicalForm(_LEFT_OUT)
    form.number(_aliases(block.source))
    key = KeyPlan(expression=column, type=column.type, type_name="", values=None, is_long=False)
    return _name(_key(key, form)[1])


def measure_name(block: BlockPlan, *parts: object) -> str:
    """The name of what is measured, were it these parts: conditions in one form."""
    form = CanonicalForm(_LEFT_OUT)
    form.number(_aliases(block.source))
    return _name(form.text(tuple(_conditioned(part, form) for part in parts)))


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _units(neighbours: Neighbours, form: CanonicalForm) -> str:
    """How neighbours differ, whatever groups are asked for."""
    if isinstance(neighbours, UnitNeighbours):
        return form.text((neighbours.column, neighbours.rows, neighbours.is_unbounded))
    return form.text(neighbours)


def _normal(part: Expression, form: CanonicalForm) -> Expression:
    """Conditions in one form, also those inside a CASE."""
    if isinstance(part, ColumnRef):
        return part  # as most keys and operands are

    def inside(one: Expression) -> Expression:
        if not isinstance(one, Case):
            return one
        whens = tuple((canonical_condition(when, form.text), then) for when, then in one.whens)
        return replace(one, whens=whens)

    return canonical_condition(rebuild(part, inside), form.text)


def _key(key: KeyPlan, form: CanonicalForm) -> tuple[str, str]:
    """With its values as a set: their order only shows; and what it groups by alone."""
    expression, values = _normal(_whole_text(key), form), None
    if key.values is not None:
        values = tuple(sorted(key.values, key=lambda text: (text is None, text or "")))
    whole = replace(key, expression=expression, type_name="", values=values)
    named = with_parts(whole, values=None, is_long=False)
    text = form.text(whole)
    return text, text if named is whole else form.text(named)


def _whole_text(key: KeyPlan) -> Expression:
    """A listed text that is cut behind its longest value has the groups of the whole one (long_texts.py)."""
    match key.expression:
        case TextCall(
            TextFunction.LEFT, ColumnRef() as text, (Constant(value=Fraction() as most),)
        ):
            longest = max((len(one or "") for one in key.values or ()), default=0)
            is_plain = text.type in (SqlType.TEXT, SqlType.VARCHAR)  # equal if their characters are
            return text if key.values and is_plain and most > longest else key.expression
        case whole:
            return whole


def _combinations(block: BlockPlan, order: tuple[int, ...]) -> object:
    if block.combinations is None:
        return None
    turned = (tuple(keys[number] for number in order) for keys in block.combinations)
    return tuple(sorted(turned, key=lambda keys: tuple((k is None, k or "") for k in keys)))


def _question(release: Release, shape: Shape, form: CanonicalForm) -> object:
    what: tuple[object, ...]
    match release:
        case NoisyStatistic() | DistinctCount() | KeptUnits():
            what = (
                sensitivity_of(release, shape).l1,
            )  # of other groups other rows of a unit count
        case RecentredMean() | DeviationMean():
            what = ()
        case OrderStatistic():
            what = (release.aggregate.kind, release.aggregate.rank)
        case SampleAggregate() | UnitExtreme():
            what = (release.aggregate.kind,)
        case _:
            assert_never(release)
    kind = type(release)
    names = sorted(_PARTS[kind][0])
    return (kind.__name__, *what, *(_conditioned(getattr(release, name), form) for name in names))


def _value_choice(one: ValueChoice, form: CanonicalForm) -> object:
    """The value, and how its bound is chosen: which releases it is for follows from them."""
    return "value", _conditioned(one.measured, form), one.choice


def _weight_choice(block: BlockPlan) -> Iterator[object]:
    """How the bound of weights is chosen: which quantiles it is for follows from them."""
    found = block.weight_choice
    if found is not None:
        yield "weights", found.bounds, found.cells, found.scale


def _conditioned(part: object, form: CanonicalForm) -> object:
    """FILTER in one form, wherever it stands in what is measured."""
    if isinstance(part, tuple):
        return tuple(_conditioned(one, form) for one in part)
    if isinstance(part, Measured):
        operand, condition = _normal(part.operand, form), _maybe(part.condition, form)
        return with_parts(part, operand=operand, condition=condition)
    if isinstance(part, Counted):
        counted, condition = _maybe(part.operand, form), _maybe(part.condition, form)
        return with_parts(part, operand=counted, condition=condition)
    return _normal(part, form) if isinstance(part, _EXPRESSIONS) else part


def _maybe(part: Expression | None, form: CanonicalForm) -> Expression | None:
    return None if part is None else _normal(part, form)


def _terms(release: Release) -> object:
    return tuple(getattr(release, name) for name in sorted(_PARTS[type(release)][1]))


def _aliases(relation: Relation) -> Iterator[str]:
    match relation:
        case Scan():
            yield relation.alias
        case Join():
            yield from _aliases(relation.left)
            yield from _aliases(relation.right)
        case Subquery() | GroupByUnit() | Truncate():
            yield from _aliases(relation.source)
            yield relation.alias
        case UnionAll():
            for one in relation.parts:
                yield from _aliases(one)
            yield relation.alias
        case _:
            assert_never(relation)


# What an answer relies on beside its plan: the policy and the catalogue of the tables that it reads, and what
# public ones among them, or beneath a reference of them, hold.
#
# A change of any of them makes another question, so that nothing is answered by what no longer holds.


class ReliedOn:
    """Digests of each table, made once for a policy, its catalogue and what was read of public tables."""

    def __init__(self, known: PlanningContext) -> None:
        self._known = known
        self._tables = {
            name: _digest((_plain(known.policy.tables[name]), _plain(known.catalog.tables[name])))
            for name in known.policy.tables
            if name in known.catalog.tables
        }
        held: defaultdict[TableName, dict[tuple[str, str], object]] = defaultdict(dict)
        for (name, column), values in known.public.items():
            held[name]["values", column] = values
        for (name, column), bounds in known.bounds.items():
            held[name]["bounds", column] = bounds
        for name, rows in known.rows.items():
            held[name]["rows", ""] = rows
        self._held = {name: _digest(_plain(contents)) for name, contents in held.items()}

    def text(self, block: BlockPlan) -> str:
        read = read_tables(block, self._known.policy)
        held = read.union(*map(self._references, read))
        return " ".join(
            (
                *(self._tables[name] for name in sorted(read & self._tables.keys())),
                *(self._held[name] for name in sorted(held & self._held.keys())),
            )
        )

    def _references(self, name: TableName) -> Iterator[TableName]:
        """Tables whose keys say which values the columns of a table have."""
        known = self._known
        table = known.policy.tables.get(name)
        if isinstance(table, ProtectedTable):
            named = (column.references for column in table.columns.values())
            yield from (reference[0] for reference in named if reference is not None)
        if name in known.catalog.tables:
            yield from (key.target for key in known.catalog.tables[name].foreign_keys)


def _plain(part: object) -> object:
    """Mappings as their items, in order."""
    if isinstance(part, Mapping):
        return tuple(sorted(((_plain(k), _plain(v)) for k, v in part.items()), key=repr))
    if isinstance(part, tuple):
        return tuple(map(_plain, part))
    if is_dataclass(part) and not isinstance(part, type):
        return (type(part).__name__, *(_plain(getattr(part, f.name)) for f in fields(part)))
    return part


def _digest(part: object) -> str:
    return hashlib.sha256(CanonicalForm().text(part).encode()).hexdigest()[:32]
