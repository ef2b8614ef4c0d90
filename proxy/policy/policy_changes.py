"""What one policy changes about another: who gains or loses what, and what it does to errors, budgets and
cached answers, as far as the policies alone say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from fractions import Fraction

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.policy.change_words import Change, Direction, Topic, both, change, error, times, word_of
from proxy.policy.changed_amounts import changed_amounts
from proxy.policy.changed_caching import changed_caching
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    MovingBounds,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Unit,
)
from proxy.policy.publication import Publication

_LISTED = 6


def policy_changes(old: Policy, new: Policy) -> list[Change]:
    """Both of one format; that they are of one database is not asked."""
    found = [
        *_head(old, new),
        *_tables(old, new),
        *changed_amounts(old, new),
        *changed_caching(old, new),
        *changed_publishing(old, new),
        *_accepted(old, new),
    ]
    order = list(Topic)
    return sorted(found, key=lambda change: order.index(change.topic))


def _head(old: Policy, new: Policy) -> Iterator[Change]:
    if old.database != new.database:
        what = f"{old.database} -> {new.database}: a running dpproxy does not take that up"
        yield change(Topic.REST, Direction.CHANGES, "database", what)
    if old.source != new.source:
        what = "another connection string: a running dpproxy does not take that up"
        yield change(Topic.REST, Direction.CHANGES, "source", what)
    if old.previews is not new.previews:
        what = f"{old.previews.value} -> {new.previews.value}"
        yield change(Topic.REST, Direction.CHANGES, "previews", what)
    if old.statements is not new.statements:
        what = f"{old.statements.value} -> {new.statements.value}: what receipts keep of statements"
        yield change(Topic.REST, Direction.CHANGES, "statements", what)
    if old.min_units_per_group != new.min_units_per_group:
        where = "min_units_per_group"
        yield _fewest_units(where, old.min_units_per_group, new.min_units_per_group)
    if old.units_about != new.units_about:
        what = f"{word_of(old.units_about)} -> {word_of(new.units_about)}: what deltas are compared with"
        yield change(Topic.REST, Direction.CHANGES, "units_about", what)


def _fewest_units(where: str, was: int | None, now: int | None) -> Change:
    what = f"{word_of(was)} -> {word_of(now)}: how many units a group has at least to be shown"
    return change(Topic.PROTECTION, Direction.CHANGES, where, what)


def _tables(old: Policy, new: Policy) -> Iterator[Change]:
    for name in dict.fromkeys((*old.tables, *new.tables)):
        before, after = old.tables.get(name), new.tables.get(name)
        if before is None and after is not None:
            yield _rights(Direction.GAINS, name, f"can be asked: {_kind(after)}")
        elif before is not None and after is None:
            yield _rights(Direction.LOSES, name, f"is not there any more ({_kind(before)})")
        elif isinstance(before, PublicTable) and isinstance(after, PublicTable):
            yield from _public(name, before, after)
        elif isinstance(before, PublicTable):
            yield _rights(Direction.LOSES, name, f"its rows are not shown any more: {_kind(after)}")
        elif isinstance(after, PublicTable):
            yield change(
                Topic.RIGHTS,
                Direction.EXPOSES,
                f"tables.{name}",
                f"every row is shown to every analyst, for nothing; it was {_kind(before)}",
            )
        elif before is not None and after is not None:
            yield from _protected(name, before, after)


def _public(name: TableName, before: PublicTable, after: PublicTable) -> Iterator[Change]:
    if before.columns != after.columns:
        was = "all columns" if before.columns is None else _list(before.columns)
        now = "all columns" if after.columns is None else _list(after.columns)
        more = before.columns is not None and set(after.columns or before.columns) >= set(
            before.columns
        )
        yield _rights(
            Direction.GAINS if more else Direction.LOSES, name, f"shows {now} instead of {was}"
        )
    if before.join_keys != after.join_keys:
        yield error(f"tables.{name}.join_keys", "joins are cut otherwise")


def _protected(name: TableName, before: ProtectedTable, after: ProtectedTable) -> Iterator[Change]:
    where = f"tables.{name}"
    if before.unit != after.unit:
        what = f"protects {_unit(after.unit)} instead of {_unit(before.unit)}"
        yield change(Topic.PROTECTION, Direction.CHANGES, f"{where}.unit", what)
    yield from _bound_on_rows(where, before, after)
    for key in ("max_groups_per_unit", "max_rows_per_group_per_unit", "join_rows_at_most"):
        was, now = getattr(before, key), getattr(after, key)
        if was != now:
            yield error(f"{where}.{key}", f"{word_of(was)} -> {word_of(now)}")
    fewest = before.min_units_per_group, after.min_units_per_group
    if fewest[0] != fewest[1]:
        yield _fewest_units(f"{where}.min_units_per_group", *fewest)
    if before.join_keys != after.join_keys:
        yield error(f"{where}.join_keys", "joins are cut otherwise, or not allowed any more")
    for column in dict.fromkeys((*before.columns, *after.columns)):
        yield from _column(name, column, before.columns.get(column), after.columns.get(column))


def _bound_on_rows(where: str, before: ProtectedTable, after: ProtectedTable) -> Iterator[Change]:
    was, now = _rows(before), _rows(after)
    if was == now:
        return
    what = f"{was} -> {now}"
    a, b = before.max_rows_per_unit, after.max_rows_per_unit
    is_fixed = not any((t.chooses_rows or t.is_unbounded) for t in (before, after))
    if is_fixed and a is not None and b is not None:
        less = "fewer" if b < a else "more"
        what += f": noise of COUNT and SUM {times(Fraction(b, a))}; {less} rows of a unit count"
    yield error(f"{where}.max_rows_per_unit", what)


def _column(
    table: TableName, name: str, before: ColumnPolicy | None, after: ColumnPolicy | None
) -> Iterator[Change]:
    where = f"tables.{table}.columns.{name}"
    if before is None or after is None:
        gone = after is None
        what = "is not there any more" if gone else "can be used"
        direction = Direction.LOSES if gone else Direction.GAINS
        yield change(Topic.RIGHTS, direction, where, what)
        return
    if before.bounds is None and after.bounds is not None:
        what = f"SUM, AVG, MIN and MAX, within {_span(after.bounds)}"
        yield change(Topic.RIGHTS, Direction.GAINS, where, what)
    elif before.bounds is not None and after.bounds is None:
        yield change(Topic.RIGHTS, Direction.LOSES, where, "SUM, AVG, MIN and MAX")
    elif before.bounds != after.bounds and before.bounds is not None and after.bounds is not None:
        yield error(f"{where}.bounds", _clamps(before.bounds, after.bounds))
    yield from _values(where, before.values, after.values)
    for key in ("grid", "partitions", "mechanism", "per_unit", "chooses_per_unit"):
        if getattr(before, key) != getattr(after, key):
            yield error(f"{where}.{key}", "is said otherwise")
    if before.references != after.references:
        yield change(Topic.RIGHTS, Direction.CHANGES, f"{where}.references", "joins by it")


def _values(
    where: str, before: tuple[str | None, ...] | None, after: tuple[str | None, ...] | None
) -> Iterator[Change]:
    if before is None and after is not None:
        what = f"GROUP BY with {len(after)} public keys"
        yield change(Topic.RIGHTS, Direction.GAINS, f"{where}.values", what)
    elif before is not None and after is None:
        what = "its public keys: groups are chosen privately"
        yield change(Topic.RIGHTS, Direction.LOSES, f"{where}.values", what)
    elif before is not None and after is not None:
        for direction, keys in (
            (Direction.GAINS, [key for key in after if key not in before]),
            (Direction.LOSES, [key for key in before if key not in after]),
        ):
            if keys:
                reported = _list("null" if key is None else key for key in keys)
                yield change(Topic.RIGHTS, direction, f"{where}.values", f"the keys {reported}")


def _accepted(old: Policy, new: Policy) -> Iterator[Change]:
    for direction, ones in (
        ("no longer accepts", [one for one in old.accepted if one not in new.accepted]),
        ("accepts", [one for one in new.accepted if one not in old.accepted]),
    ):
        for one in ones:
            place = "" if one.where is None else f" of {one.where}"
            covers = "" if one.covers is None else f" ({_list(sorted(one.covers))})"
            what = f"{direction} {one.name.name}{place}{covers}: {one.reason}"
            yield change(Topic.PROTECTION, Direction.CHANGES, "accept", what)


def _rights(direction: Direction, name: TableName, what: str) -> Change:
    return change(Topic.RIGHTS, direction, f"tables.{name}", what)


def _kind(table: ProtectedTable | PublicTable | None) -> str:
    return f"protected, by {_unit(table.unit)}" if isinstance(table, ProtectedTable) else "public"


def _unit(unit: Unit) -> str:
    match unit:
        case RowUnit(rows=rows):
            return "each row" if rows == 1 else f"any {rows} rows"
        case IdentifierUnit(identifier=word, column=column, path=path):
            through = "" if path is None else f" through {path.table}"
            return f"each {word} (in {column}{through})"
        case _:
            assert_never(unit)


def _rows(table: ProtectedTable) -> str:
    if table.is_unbounded:
        return "none"
    if table.chooses_rows:
        return f"auto, at most {table.max_rows_per_unit}"
    return word_of(table.max_rows_per_unit)


def _clamps(before: Bounds | MovingBounds, after: Bounds | MovingBounds) -> str:
    what = f"{_span(before)} -> {_span(after)}"
    if isinstance(before, MovingBounds) or isinstance(after, MovingBounds):
        return what  # of another width each day
    if before.kind is not after.kind:
        return what
    widths = [bound.high - bound.low for bound in (before, after)]
    clamps_more = after.low > before.low or after.high < before.high
    most = [max(abs(bound.low), abs(bound.high)) for bound in (before, after)]
    reported = f": noise of AVG {times(widths[1] / widths[0])}"
    if most[0]:
        reported += f", of SUM {times(most[1] / most[0])}"
    return what + reported + ("; values beyond are cut that were not" if clamps_more else "")


def _span(bounds: Bounds | MovingBounds) -> str:
    high = "now" if isinstance(bounds, MovingBounds) else _bound(bounds.high, bounds.kind)
    return f"[{_bound(bounds.low, bounds.kind)}, {high}]"


def _bound(bound: Fraction, kind: BoundsKind) -> str:
    """As a policy writes it."""
    if kind is BoundsKind.NUMBER:
        return decimal(bound)
    begin = datetime(1970, 1, 1)  # noqa: DTZ001  in UTC, without saying so
    unit = timedelta(days=1) if kind is BoundsKind.DATE else timedelta(seconds=1)
    try:
        moment = begin + float(bound) * unit
    except OverflowError:
        return decimal(bound)
    return str(moment.date()) if kind is BoundsKind.DATE else str(moment)


def _list(names: Iterable[str]) -> str:
    words = list(names)
    more = len(words) - _LISTED
    return ", ".join(words[:_LISTED]) + (f" and {more} more" if more > 0 else "")


_HOUR = 3_600


def changed_publishing(old: Policy, new: Policy) -> Iterator[Change]:
    was = {one.name: one for one in old.publish}
    now = {one.name: one for one in new.publish}
    for name, one in now.items():
        if name not in was:
            what = f"a table for everybody, {_every(one)}, {_cost(one)} of budgets.total each time"
            yield _published(Direction.GAINS, name, what)
        elif one != was[name]:
            yield from _renewed(was[name], one)
    for name in was:
        if name not in now:
            what = "the table goes; what it was made of is released no more"
            yield _published(Direction.LOSES, name, what)


def _renewed(was: Publication, now: Publication) -> Iterator[Change]:
    if was.sql != now.sql:
        what = f"another statement: it is released anew at once, {_cost(now)}"
        yield _published(Direction.CHANGES, now.name, what)
    if was.loss != now.loss:
        epsilon, delta = (
            both(was.loss.epsilon, now.loss.epsilon),
            both(was.loss.delta, now.loss.delta),
        )
        what = f"epsilon {epsilon}, delta {delta}: it is released anew at once"
        yield _published(Direction.CHANGES, now.name, what)
    if was.smallest != now.smallest:
        what = f"other smallest groups: it is released anew at once, {_cost(now)}"
        yield _published(Direction.CHANGES, now.name, what)
    if _every(was) != _every(now):
        what = f"{_every(was)} -> {_every(now)}"
        yield _published(Direction.CHANGES, now.name, what)


def _every(one: Publication) -> str:
    """
    >>> from fractions import Fraction
    >>> from proxy.mechanisms.loss import Loss
    >>> _every(Publication(name="n", sql="", seconds=86400, offset=16200, loss=Loss(Fraction(1), Fraction(0))))
    'every 24h from 04:30'
    """
    length = f"{one.seconds // _HOUR}h" if one.seconds % _HOUR == 0 else f"{one.seconds // 60}min"
    hours, minutes = divmod(one.offset // 60, 60)
    return f"every {length} from {hours:02}:{minutes:02}"


def _cost(one: Publication) -> str:
    return f"epsilon {decimal(one.loss.epsilon)}"


def _published(direction: Direction, name: str, what: str) -> Change:
    return change(Topic.PUBLISHED, direction, f"publish.{name}", what)
