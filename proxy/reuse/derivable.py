"""Of a block: what others can be made of its answer, and of which answers it could be made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from proxy.catalog.catalog_model import Column, ForeignKey, Table, TableName
from proxy.kernel.column_types import conjuncts
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    Release,
)
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.planner.column_buckets import compared_texts
from proxy.planner.facts import PlanningContext
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import Join, Relation, Scan
from proxy.reuse.block_question import (
    BlockQuestion,
    about_of,
    column_name,
    measure_name,
    question_of,
)
from proxy.reuse.day_ranges import DayRanges, published_days, wanted_ranges, whole_days
from proxy.reuse.derivation import (
    NOTHING_MORE,
    AnswerKey,
    AnswerRelease,
    Slices,
    UsableAnswer,
    source_of,
)

NeverNull = Callable[[ColumnRef], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedKey:
    """A key of a source, by number, that refers to a column of a public table. values: that it answers."""

    place: int
    table: TableName
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivable:
    """about: names of what rows; wanted: of which rows sources may be, with the conditions that are left then.
    question: without its texts, which may be long. listed: keys of the source that are complete by what a
    public table holds, as far as is known. ranges: of days that it asks for, by what they are about."""

    question: BlockQuestion
    source: UsableAnswer
    about: bytes
    wanted: tuple[tuple[bytes, Slices], ...]
    listed: tuple[ListedKey, ...] = ()
    ranges: tuple[tuple[bytes, DayRanges], ...] = ()


def derivable(
    block: BlockPlan, question: BlockQuestion, known: PlanningContext, relied_on: str
) -> Derivable | None:
    """
    Given    relied_on: what else an answer hangs on
    Refuses  NotCanonical
    """

    def has_value(column: ColumnRef) -> bool:
        found = _stored(column, block, known)
        return found is not None and not found[1].nullable

    names = release_names(block, question, has_value)
    question = replace(question, release_names=names)
    without_texts = replace(question, question="", terms="", about="")
    if block.continual:
        days = _days_of(block, has_value)
        if days is None:
            return None
        about = _named(f"{relied_on} {days.about}")
        nothing = UsableAnswer(keys=(), releases=())
        return Derivable(
            question=without_texts, source=nothing, about=about, wanted=(), ranges=((about, days),)
        )
    source = source_of(block, question, lambda number: _is_complete(block, number, known))
    if source is None:
        return None
    about = _named(f"{relied_on} {question.about}")
    wanted = [(about, NOTHING_MORE)]
    sliced = _sliced(block)

    if sliced is not None:
        wanted.append((_named(f"{relied_on} {about_of(sliced.core)}"), sliced.more))
    ranges = wanted_ranges(block, question)
    return Derivable(
        question=without_texts,
        source=source,
        about=about,
        wanted=tuple(wanted),
        listed=tuple(_references(block, question, source, known)),
        ranges=tuple((_named(f"{relied_on} {one.about}"), one) for one in ranges),
    )


def _days_of(block: BlockPlan, is_never_null: NeverNull) -> DayRanges | None:
    """Of days that are released at once, under the names by which a range of them is asked for."""
    if block.is_stepwise:
        return None
    whole = whole_days(block)
    question = question_of(whole)
    names = release_names(whole, question, is_never_null)
    return published_days(block, dict(zip(question.releases, names, strict=True)))


def without(of: Derivable, listed: Collection[ListedKey]) -> Derivable:
    """Where a public table holds more than such keys answer."""
    places = {one.place for one in listed}
    keys = tuple(
        replace(key, is_complete=key.is_complete and place not in places)
        for place, key in enumerate(of.source.keys)
    )
    return replace(of, source=replace(of.source, keys=keys), listed=())


def _references(
    block: BlockPlan, question: BlockQuestion, source: UsableAnswer, known: PlanningContext
) -> Iterator[ListedKey]:
    for place, number in enumerate(question.keys):
        found = _stored_key(block, number, known)
        reference = None if found is None else _reference(*found)
        if reference is None or not source.keys[place].is_complete:
            continue
        values = tuple(value for value in block.keys[number].values or () if value is not None)
        yield ListedKey(
            place=place, table=reference.target, column=reference.target_columns[0], values=values
        )


def _named(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def source_document(source: UsableAnswer) -> dict[str, object]:
    """As JSON."""
    return {
        "keys": [[key.name, key.is_complete] for key in source.keys],
        "releases": [
            [one.name, *_noise_texts(one.noise), one.is_additive] for one in source.releases
        ],
    }


def source_from(document: Any) -> UsableAnswer:
    """
    Refuses  KeyError, ValueError for what `source_document` did not write
    """
    return UsableAnswer(
        keys=tuple(AnswerKey(name=name, is_complete=whole) for name, whole in document["keys"]),
        releases=tuple(
            AnswerRelease(name=name, noise=_noise(kind, size), is_additive=adds_up)
            for name, kind, size, adds_up in document["releases"]
        ),
    )


def _noise_texts(noise: Noise) -> tuple[str, str]:
    match noise:
        case LaplaceNoise():
            return "laplace", str(noise.scale)
        case GaussianNoise():
            return "gaussian", str(noise.sigma2)
        case ContinualNoise():
            raise AssertionError("a series is no source")


def _noise(kind: str, size: str) -> Noise:
    match kind:
        case "laplace":
            return LaplaceNoise(scale=Fraction(size))
        case "gaussian":
            return GaussianNoise(sigma2=Fraction(size))
        case _:
            raise ValueError("a noise that this version does not know")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sliced:
    """core: a block without its conditions on listed values of columns; more: these."""

    core: BlockPlan
    more: Slices


def _sliced(block: BlockPlan) -> _Sliced | None:
    among: dict[str, frozenset[str | None]] = {}
    without: dict[str, frozenset[str | None]] = {}
    left: list[Expression] = []
    for part in conjuncts(block.where):
        found = compared_texts(part)
        if found is None:
            left.append(part)
            continue
        name = column_name(block, found.column)
        if found.is_negated:  # which rows without a value do not meet
            without[name] = without.get(name, frozenset({None})) | found.texts
        else:
            among[name] = among.get(name, found.texts) & found.texts
    if not among and not without:
        return None
    return _Sliced(
        core=replace(block, where=conjunction(left)), more=Slices(among=among, without=without)
    )


def _is_complete(block: BlockPlan, number: int, known: PlanningContext) -> bool:
    """Whether the catalogue says that each row has one of a key's values."""
    found, values = _stored_key(block, number, known), block.keys[number].values
    if found is None or values is None:
        return False
    table, stored = found
    if stored.nullable and None not in values:
        return False
    listed = _listed(table, stored, known)
    return listed is not None and listed <= {*values}


def _stored_key(
    block: BlockPlan, number: int, known: PlanningContext
) -> tuple[Table, Column] | None:
    """The column that a key is, of which the server keeps to what is declared."""
    column = block.keys[number].expression
    return _stored(column, block, known) if isinstance(column, ColumnRef) else None


def _stored(
    column: ColumnRef, block: BlockPlan, known: PlanningContext
) -> tuple[Table, Column] | None:
    """What it is in a table, of which the server keeps to what is declared."""
    name = _tables(block.source).get(column.relation)
    table = None if name is None else known.catalog.tables.get(name.table)
    stored = None if table is None else table.column(column.column)
    return (table, stored) if table and stored and stored.is_enforced else None


def _tables(relation: Relation) -> Mapping[str, Scan]:
    """By their alias, those of which every row has its values: not beyond an outer join."""
    match relation:
        case Scan():
            return {relation.alias: relation}
        case Join():
            right = {} if relation.left_outer else _tables(relation.right)
            return {**_tables(relation.left), **right}
        case _:
            return {}


def _listed(table: Table, column: Column, known: PlanningContext) -> frozenset[str] | None:
    """All values that the server lets a column have."""
    if column.type.sql == "boolean":
        return frozenset({"true", "false"})
    if column.enumeration is not None:
        return frozenset(column.enumeration.labels)
    key = _reference(table, column)
    values = None if key is None else known.public.get((key.target, key.target_columns[0]))
    return None if values is None else frozenset(v for v in values if v is not None)


def _reference(table: Table, column: Column) -> ForeignKey | None:
    """What lists the values of a column, if its type does not."""
    if column.type.sql == "boolean" or column.enumeration is not None:
        return None
    found = (key for key in table.foreign_keys if key.columns == (column.name,))
    return next(found, None)


# Names of what is measured, alike where the same rows are counted: by count(*), by count(x) of a column that
# is never NULL, and by the number of rows that AVG and variances are divided by.
#
# Of columns alone: of an expression it is not proven that it is NULL just where its grid index is, as in
# planner.budget_allocation, which shares the same numbers within a statement.


def release_names(
    block: BlockPlan, question: BlockQuestion, is_never_null: NeverNull
) -> tuple[str, ...]:
    """Of a question's releases, in its order.

    Given    is_never_null: of a column, by what the server enforces
    """
    named = zip(question.releases, question.release_names, strict=True)
    return tuple(_name(block, block.releases[n], name, is_never_null) for n, name in named)


def _name(block: BlockPlan, release: Release, name: str, is_never_null: NeverNull) -> str:
    if not isinstance(release, NoisyStatistic) or release.statistic is not Statistic.ROWS:
        return name
    if release.total is not None:  # rows of a unit are bounded otherwise
        return name
    found = _counted(release.of)
    if found is None:
        return name
    column, condition, fills = found
    if column is not None and (fills or is_never_null(column)):
        column = None
    return measure_name(
        block, "rows", column, condition, sensitivity_of(release, shape_of(block)).l1
    )


def _counted(
    of: Counted | tuple[Measured, ...],
) -> tuple[ColumnRef | None, Expression | None, bool] | None:
    """The column whose values are counted (None: all rows), of which rows, and whether it is never NULL, as far
    as that is known. None: neither a column nor all rows."""
    if isinstance(of, Counted):
        if of.operand is None or isinstance(of.operand, ColumnRef):
            return of.operand, of.condition, of.never_null
        return None
    if len(of) != 1:
        return None
    operand = of[0].operand
    column = operand.operand if isinstance(operand, Clamped) else operand
    # A value is NULL, and not counted, where its column is.
    return (column, of[0].condition, False) if isinstance(column, ColumnRef) else None
