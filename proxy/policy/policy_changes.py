"""What one policy changes about another: who gains or loses what, and what it does to errors, budgets and
cached answers, as far as the policies alone say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from fractions import Fraction

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.policy.caching_changes import changed_caching
from proxy.policy.change_words import (
    Change,
    Direction,
    ForPeople,
    Topic,
    both,
    by_amounts,
    change,
    error,
    times,
    word_of,
)
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Acceptance,
    Accounting,
    Bounds,
    BoundsKind,
    Budget,
    ColumnPolicy,
    IdentifierUnit,
    MovingBounds,
    Period,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Said,
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
        yield change(Topic.REST, Direction.CHANGES, "previews", what, ForPeople.SAME)  # no rows
    if old.statements is not new.statements:
        what = f"{old.statements.value} -> {new.statements.value}: what receipts keep of statements"
        yield change(Topic.REST, Direction.CHANGES, "statements", what)
    if old.min_units_per_group != new.min_units_per_group:
        where = "min_units_per_group"
        fewest = old.min_units_per_group, new.min_units_per_group
        yield _fewest_units(where, *fewest, by_amounts(fewest[::-1]))
    if old.approve_above != new.approve_above:
        was, now = (
            "never" if one is None else decimal(one)
            for one in (old.approve_above, new.approve_above)
        )
        what = f"{was} -> {now}: above which epsilon a person approves a statement of an agent"
        least = old.approve_above, new.approve_above
        people = _where_none_is_most(*least)
        yield change(Topic.REST, Direction.CHANGES, "agents.approve_above", what, people)
    if old.units_about != new.units_about:
        what = f"{word_of(old.units_about)} -> {word_of(new.units_about)}: what deltas are compared with"
        yield change(Topic.REST, Direction.CHANGES, "units_about", what)


def _where_none_is_most(was: Fraction | None, now: Fraction | None) -> ForPeople:
    if was is None or now is None:
        return ForPeople.WEAKER if now is None else ForPeople.STRONGER
    return by_amounts((was, now))


def _fewest_units(where: str, was: int | None, now: int | None, people: ForPeople) -> Change:
    what = f"{word_of(was)} -> {word_of(now)}: how many units a group has at least to be shown"
    return change(Topic.PROTECTION, Direction.CHANGES, where, what, people)


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
                ForPeople.WEAKER,
            )
        elif before is not None and after is not None:
            fewest = old.fewest_units([name]), new.fewest_units([name])
            yield from _protected(name, before, after, by_amounts(fewest[::-1]))


def _public(name: TableName, before: PublicTable, after: PublicTable) -> Iterator[Change]:
    yield from _said_by(f"tables.{name}", before.said, after.said)
    if before.columns != after.columns:
        was = "all columns" if before.columns is None else _list(before.columns)
        now = "all columns" if after.columns is None else _list(after.columns)
        more = before.columns is not None and set(after.columns or before.columns) >= set(
            before.columns
        )
        shows_more = before.columns is not None and (
            after.columns is None or bool(set(after.columns) - set(before.columns))
        )
        yield change(
            Topic.RIGHTS,
            Direction.GAINS if more else Direction.LOSES,
            f"tables.{name}",
            f"shows {now} instead of {was}",
            ForPeople.WEAKER if shows_more else ForPeople.STRONGER,
        )
    if before.join_keys != after.join_keys:
        yield error(f"tables.{name}.join_keys", "joins are cut otherwise")


def _protected(
    name: TableName, before: ProtectedTable, after: ProtectedTable, fewer: ForPeople
) -> Iterator[Change]:
    """fewer: what a change of the smallest groups means for people."""
    where = f"tables.{name}"
    if before.unit != after.unit:
        what = f"protects {stated_unit_text(after.unit)} instead of {stated_unit_text(before.unit)}"
        people = _other_unit(before.unit, after.unit)
        if _blocks(before.unit) != _blocks(after.unit):
            what += ": what was spent so far does not count in the budgets that pay from now on"
        yield change(Topic.PROTECTION, Direction.CHANGES, f"{where}.unit", what, people)
    yield from _bound_on_rows(where, before, after)
    for key in ("max_groups_per_unit", "max_rows_per_group_per_unit", "join_rows_at_most"):
        was, now = getattr(before, key), getattr(after, key)
        if was != now:
            yield error(f"{where}.{key}", f"{word_of(was)} -> {word_of(now)}")
    fewest = before.min_units_per_group, after.min_units_per_group
    if fewest[0] != fewest[1]:
        yield _fewest_units(f"{where}.min_units_per_group", *fewest, fewer)
    if before.join_keys != after.join_keys:
        yield error(f"{where}.join_keys", "joins are cut otherwise, or not allowed any more")
    if before.prepared != after.prepared:
        yield error(f"{where}.prepared", "answers come from another prepared copy, or from none")
    for column in dict.fromkeys((*before.columns, *after.columns)):
        yield from _column(name, column, before.columns.get(column), after.columns.get(column))


def _bound_on_rows(where: str, before: ProtectedTable, after: ProtectedTable) -> Iterator[Change]:
    was, now = rows_text(before), rows_text(after)
    if was == now:
        return
    what = f"{was} -> {now}"
    a, b = before.max_rows_per_unit, after.max_rows_per_unit
    is_fixed = not any((t.chooses_rows or t.is_unbounded) for t in (before, after))
    if is_fixed and a is not None and b is not None:
        less = "fewer" if b < a else "more"
        what += f": noise of COUNT and SUM {times(Fraction(b, a))}; {less} rows of a unit count"
    # A fixed bound is kept by cutting, and the noise follows it: what is promised stays.
    yield error(f"{where}.max_rows_per_unit", what, ForPeople.SAME if is_fixed else ForPeople.LOOK)


def _column(
    table: TableName, name: str, before: ColumnPolicy | None, after: ColumnPolicy | None
) -> Iterator[Change]:
    where = f"tables.{table}.columns.{name}"
    if before is None or after is None:
        gone = after is None
        what = "is not there any more" if gone else "can be used"
        direction = Direction.LOSES if gone else Direction.GAINS
        people = ForPeople.STRONGER if gone else ForPeople.WEAKER
        yield change(Topic.RIGHTS, direction, where, what, people)
        return
    if before.bounds is None and after.bounds is not None:
        what = f"SUM, AVG, MIN and MAX, within {bounds_text(after.bounds)}"
        yield change(Topic.RIGHTS, Direction.GAINS, where, what, ForPeople.WEAKER)
    elif before.bounds is not None and after.bounds is None:
        what = "SUM, AVG, MIN and MAX"
        yield change(Topic.RIGHTS, Direction.LOSES, where, what, ForPeople.STRONGER)
    elif before.bounds != after.bounds and before.bounds is not None and after.bounds is not None:
        yield error(f"{where}.bounds", _clamps(before.bounds, after.bounds))
    yield from _values(where, before.values, after.values)
    for key in ("grid", "partitions", "mechanism", "per_unit", "chooses_per_unit"):
        was, now = getattr(before, key), getattr(after, key)
        if was != now:
            yield error(f"{where}.{key}", f"{_said(was)} -> {_said(now)}")
    yield from _said_by(where, before.said, after.said)
    if before.references != after.references:
        yield change(Topic.RIGHTS, Direction.CHANGES, f"{where}.references", "joins by it")


def _said_by(where: str, before: Said, after: Said) -> Iterator[Change]:
    if before != after:
        what = f"{before.words or 'not said'} -> {after.words or 'not said'}"
        yield change(Topic.REST, Direction.CHANGES, f"{where}.said_by", what, ForPeople.SAME)


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
    gone = [one for one in old.accepted if one not in new.accepted]
    come = [one for one in new.accepted if one not in old.accepted]
    for direction, ones, others, people in (
        ("no longer accepts", gone, new.accepted, ForPeople.STRONGER),
        ("accepts", come, old.accepted, ForPeople.WEAKER),
    ):
        for one in ones:
            is_covered = any(_covers(other, one) for other in others)
            place = "" if one.where is None else f" of {one.where}"
            covers = "" if one.covers is None else f" ({_list(sorted(one.covers))})"
            what = f"{direction} {one.name.name}{place}{covers}: {one.said}"
            yield change(
                Topic.PROTECTION,
                Direction.CHANGES,
                "accept",
                what,
                ForPeople.SAME if is_covered else people,
            )


def _covers(wide: Acceptance, narrow: Acceptance) -> bool:
    """Whether all that `narrow` accepts is accepted by `wide`, too."""
    if wide.name is not narrow.name or wide.where not in (None, narrow.where):
        return False
    if wide.covers is None or narrow.covers is None:
        return wide.covers == narrow.covers
    return wide.covers >= narrow.covers


def _rights(direction: Direction, name: TableName, what: str) -> Change:
    """What analysts can read more of protects people less, whatever else changes."""
    people = ForPeople.WEAKER if direction is Direction.GAINS else ForPeople.STRONGER
    return change(Topic.RIGHTS, direction, f"tables.{name}", what, people)


def _kind(table: ProtectedTable | PublicTable | None) -> str:
    return (
        f"protected, by {stated_unit_text(table.unit)}"
        if isinstance(table, ProtectedTable)
        else "public"
    )


def stated_unit_text(unit: Unit) -> str:
    match unit:
        case RowUnit(rows=rows):
            return "each row" if rows == 1 else f"any {rows} rows"
        case IdentifierUnit(identifier=word, column=column, path=path, blocks=blocks):
            through = "" if path is None else f" through {path.table}"
            within = (
                "" if blocks is None else f", in each {blocks.per.value} of {blocks.time} by itself"
            )
            return f"each {word} (in {column}{through}){within}"
        case _:
            assert_never(unit)


def _blocks(unit: Unit) -> object:
    """What names the budgets of blocks of time. None: the total pays."""
    if not isinstance(unit, IdentifierUnit) or unit.blocks is None:
        return None
    return unit.identifier, unit.blocks


def _other_unit(was: Unit, now: Unit) -> ForPeople:
    if isinstance(now, RowUnit):
        if isinstance(was, RowUnit):
            return by_amounts((now.rows, was.rows))
        return ForPeople.WEAKER  # who has more rows is protected less
    if now.blocks is not None and _blocks(was) != _blocks(now):
        return ForPeople.WEAKER  # who is in more blocks is protected less; other ones begin anew
    if isinstance(was, RowUnit) and was.rows == 1:
        return ForPeople.STRONGER
    return ForPeople.LOOK


def rows_text(table: ProtectedTable) -> str:
    if table.is_unbounded:
        return "none"
    if table.chooses_rows:
        return f"auto, at most {table.max_rows_per_unit}"
    return word_of(table.max_rows_per_unit)


def _clamps(before: Bounds | MovingBounds, after: Bounds | MovingBounds) -> str:
    what = f"{bounds_text(before)} -> {bounds_text(after)}"
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


def bounds_text(bounds: Bounds | MovingBounds) -> str:
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


def _said(value: object) -> str:
    return bounds_text(value) if isinstance(value, Bounds | MovingBounds) else word_of(value)


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
            what = (
                f"a table for everybody, {_every(one)}, {_cost(one)} of budgets.total {_times(one)}"
            )
            yield _published(Direction.GAINS, name, what, ForPeople.WEAKER)
        elif one != was[name]:
            yield from _renewed(was[name], one)
    for name in was:
        if name not in now:
            what = "the table goes; what it was made of is released no more"
            yield _published(Direction.LOSES, name, what, ForPeople.STRONGER)


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
        a, b = was.loss, now.loss
        people = by_amounts((a.epsilon, b.epsilon), (a.delta, b.delta))
        yield _published(Direction.CHANGES, now.name, what, people)
    if (was.continual, was.ranges) != (now.continual, now.ranges):
        what = f"{_times(was)} -> {_times(now)}: it is released anew at once, {_cost(now)}"
        yield _published(Direction.CHANGES, now.name, what)
    if was.smallest != now.smallest:
        what = f"other smallest groups: it is released anew at once, {_cost(now)}"
        yield _published(Direction.CHANGES, now.name, what)
    if _every(was) != _every(now):
        what = f"{_every(was)} -> {_every(now)}"
        people = by_amounts((now.seconds, was.seconds))
        yield _published(Direction.CHANGES, now.name, what, people)


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


def _times(one: Publication) -> str:
    if one.ranges is not None:
        return f"each time, of {one.ranges.most_days} days of which a unit counts"
    if one.continual is None:
        return "each time"
    days, most = one.continual.days, one.continual.most_days
    return f"once for {days} days, of {most} of which a unit counts"


def _cost(one: Publication) -> str:
    return f"epsilon {decimal(one.loss.epsilon)}"


def _published(
    direction: Direction, name: str, what: str, people: ForPeople = ForPeople.LOOK
) -> Change:
    return change(Topic.PUBLISHED, direction, f"publish.{name}", what, people)


# What a policy changes about the cost of statements, and about budgets.


def changed_amounts(old: Policy, new: Policy) -> Iterator[Change]:
    yield from _privacy(old, new)
    yield from _accounting(old, new)
    yield from _budgets(old, new)
    yield from _more_budgets("groups", old.budgets.groups, new.budgets.groups)
    before, after = (
        {str(name): budget for name, budget in one.budgets.tables.items()} for one in (old, new)
    )
    yield from _more_budgets("tables", before, after)


def _privacy(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = old.privacy, new.privacy
    if before.epsilon != after.epsilon:
        what = (
            f"{both(before.epsilon, after.epsilon)}: errors {times(before.epsilon / after.epsilon)}"
        )
        yield error(
            "privacy.epsilon",
            f"{what}, and a statement costs {times(after.epsilon / before.epsilon)}",
            by_amounts((before.epsilon, after.epsilon)),
        )
    if before.max_epsilon != after.max_epsilon:
        direction = Direction.GAINS if after.max_epsilon > before.max_epsilon else Direction.LOSES
        what = (
            f"{both(before.max_epsilon, after.max_epsilon)} is the most that a session may ask for"
        )
        people = by_amounts((before.max_epsilon, after.max_epsilon))
        yield change(Topic.RIGHTS, direction, "privacy.max_epsilon", what, people)
    if before.delta != after.delta:
        what = f"{both(before.delta, after.delta)}: what a statement may spend"
        yield error("privacy.delta", what, by_amounts((before.delta, after.delta)))
    reported = ("epsilon", "max_epsilon", "delta", "max_delta")
    for one in fields(before):
        was, now = getattr(before, one.name), getattr(after, one.name)
        if one.name not in reported and was != now:
            what = f"{word_of(was)} -> {word_of(now)}"
            people = ForPeople.SAME if one.name in _SHOWN_ALONE else ForPeople.LOOK
            yield error(f"privacy.{_KEYS.get(one.name, one.name)}", what, people)


_SHOWN_ALONE = ("is_rounded", "uses_published", "has_notices")  # of answers that are made already


_KEYS = {
    "median_noise": "median.noise",
    "is_rounded": "round",
    "uses_published": "published",
    "has_notices": "notice",
}


def _budgets(old: Policy, new: Policy) -> Iterator[Change]:
    each = old.privacy.epsilon, new.privacy.epsilon
    yield from _budget("total", old.budgets.total, new.budgets.total, each)
    yield from _budget("default", old.budgets.default, new.budgets.default, each)
    for name in dict.fromkeys((*old.budgets.analysts, *new.budgets.analysts)):
        was, now = old.budgets.of(name), new.budgets.of(name)
        is_line = name in old.budgets.analysts, name in new.budgets.analysts
        note = {(True, False): " (by default now)", (False, True): " (by a line of their own now)"}
        if was == now and is_line[0] is not is_line[1]:
            what = f"the same{note[is_line]}"
            where = f"budgets.analysts.{name}"
            yield change(Topic.BUDGETS, Direction.CHANGES, where, what, ForPeople.SAME)
        yield from _budget(f"analysts.{name}", was, now, each, note.get(is_line, ""))


def _accounting(old: Policy, new: Policy) -> Iterator[Change]:
    if old.accounting is new.accounting:
        return
    what = f"{old.accounting.value} -> {new.accounting.value}: "
    if new.accounting is Accounting.ZCDP:
        what += "a statement fits where the epsilons do or where rho does"
        yield change(Topic.BUDGETS, Direction.GAINS, "accounting", what)
    else:
        what += "a statement fits where the epsilons do; what is spent counts, as epsilons"
        yield change(Topic.BUDGETS, Direction.LOSES, "accounting", what)


def _more_budgets(
    key: str, old: Mapping[str, Budget], new: Mapping[str, Budget]
) -> Iterator[Change]:
    """Of what need not have one: nothing bounds it then but the others."""
    for name in dict.fromkeys((*old, *new)):
        where, was, now = f"budgets.{key}.{name}", old.get(name), new.get(name)
        if was is None and now is not None:
            what = f"{_limits(now)}: nothing bounded it by itself; what is spent counts"
            yield change(Topic.BUDGETS, Direction.LOSES, where, what, ForPeople.STRONGER)
        elif was is not None and now is None:
            what = f"{_limits(was)}: nothing bounds it by itself any more"
            yield change(Topic.BUDGETS, Direction.GAINS, where, what, ForPeople.WEAKER)
        elif was is not None and now is not None:
            yield from _budget(f"{key}.{name}", was, now, None)


def _limits(budget: Budget) -> str:
    epsilon, delta = decimal(budget.limit.epsilon), decimal(budget.limit.delta)
    renews = "" if budget.per is Period.NONE else f" {_window(budget.per)}"
    return f"epsilon {epsilon}, delta {delta}{renews}"


def _budget(
    key: str, was: Budget, now: Budget, each: tuple[Fraction, Fraction] | None, note: str = ""
) -> Iterator[Change]:
    """each: epsilon of a statement before and now; None: not told in statements, which cost it in part"""
    if was == now and (each is None or each[0] == each[1]):
        return
    a, b = (budget.limit for budget in (was, now))
    lasts = ""
    if each is not None:
        statements = [int(limit.epsilon / cost) for limit, cost in zip((a, b), each, strict=True)]
        lasts = f": {statements[0]} -> {statements[1]} statements at the policy's epsilon"
    if was == now and each is not None:
        direction = Direction.GAINS if each[1] < each[0] else Direction.LOSES
        what = lasts.removeprefix(": ")
        yield change(Topic.BUDGETS, direction, f"budgets.{key}", what, ForPeople.SAME)
        return
    gains = b.epsilon >= a.epsilon and b.delta >= a.delta
    loses = b.epsilon <= a.epsilon and b.delta <= a.delta
    is_same_window = was.per is now.per
    direction = Direction.GAINS if gains else Direction.LOSES if loses else Direction.CHANGES
    what = f"epsilon {both(a.epsilon, b.epsilon)}, delta {both(a.delta, b.delta)}{note}{lasts}"
    if not is_same_window:
        direction = Direction.CHANGES
        what += f"; renews {_window(was.per)} -> {_window(now.per)}"
    if b.epsilon < a.epsilon or b.delta < a.delta:
        what += "; what is spent counts"
    renewals = tuple(_OFTEN.index(one.per) for one in (was, now))
    people = by_amounts((a.epsilon, b.epsilon), (a.delta, b.delta), (renewals[0], renewals[1]))
    yield change(Topic.BUDGETS, direction, f"budgets.{key}", what, people)


_OFTEN = (Period.NONE, Period.MONTH, Period.WEEK, Period.DAY)


def _window(per: Period) -> str:
    return "never" if per is Period.NONE else f"each {per.value}"
