"""The `publish` of a policy file: statements that are released on a schedule, each with its own epsilon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from proxy.mechanisms.continual import LARGEST_STEPS
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Privacy
from proxy.policy.publication import Continual, DaySums, Publication
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, kind, number_within, switch, text, whole
from proxy.policy_file.policy_privacy import (
    LARGEST_DELTA,
    LARGEST_EPSILON,
    LEAST_DELTA,
    LEAST_EPSILON,
    LENGTH,
    TIME_OF_DAY,
    offset_of,
    seconds_of_length,
)
from proxy.policy_file.policy_shapes import SWITCH, TEXT, Keyed, ListOf, Number, OneOf, Plain, Shape
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

_REQUIRED = ("name", "sql", "every", "epsilon")
_MOST = 200
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,55}")
PUBLICATION_KEYS: Mapping[str, Shape] = {
    "name": Plain(_NAME.pattern),
    "sql": TEXT,
    "every": Plain(LENGTH.pattern),
    "from": Plain(TIME_OF_DAY.pattern),
    "epsilon": Number(LEAST_EPSILON, LARGEST_EPSILON),
    "delta": Number(LEAST_DELTA, LARGEST_DELTA),
    "continual": Number(Fraction(2), Fraction(LARGEST_STEPS), is_whole=True),
    "ranges": OneOf(("day",)),
    "max_days_per_unit": Number(Fraction(1), Fraction(LARGEST_STEPS), is_whole=True),
    "append_only": SWITCH,
}
PUBLISH = ListOf(Keyed(PUBLICATION_KEYS, _REQUIRED, "publish"), _MOST)
_ONE_OF_TWO = "add ranges: day, or continual: and the number of days, or leave it out"
_SERIES_ONLY = "add continual: and the number of days, such as continual: 365, or leave it out"
_NOT_OF_RANGES = {
    "continual": "take one of both out: continual adds a day at each release, ranges draws all of them anew",
    "append_only": "leave it out: nothing has to be promised of rows that are read at once",
}
_SOONEST, _LATEST = 300, 31 * 86_400


def read_publications(
    entry: Entry | None, privacy: Privacy | None, problems: ProblemList
) -> tuple[Publication, ...]:
    """privacy: of which delta is where a publication says none; None: it has a problem itself."""
    if entry is None:
        return ()
    match entry.value:
        case SequenceNode(items=items):
            pass
        case RefusedNode():
            return ()
        case ScalarNode() | MappingNode():
            problems.add(
                entry.value.at,
                f"publish must be a list, not {kind(entry.value)}",
                "write - name: ..., below it sql, every and epsilon",
            )
            return ()
    if len(items) > _MOST:
        problems.add(
            entry.key_at,
            f"publish has more than {_MOST} statements",
            "each is drawn and charged by itself",
        )
        return ()
    found: dict[str, Publication] = {}
    for item in items:
        one = _publication(item, privacy, found, problems)
        if one is not None:
            found[one.name] = one
    return tuple(found.values())


def _publication(
    node: Node, privacy: Privacy | None, others: dict[str, Publication], problems: ProblemList
) -> Publication | None:
    where = "a published statement"
    given = fields(node, where, node.at, PUBLICATION_KEYS, _REQUIRED, problems)
    if given is None:
        return None
    name = _name(given["name"], others, problems) if "name" in given else None
    sql = text(given["sql"].value, "sql", problems) if "sql" in given else None
    seconds = _every(given["every"], problems) if "every" in given else None
    offset = offset_of(given.get("from"), problems)
    epsilon = None
    if "epsilon" in given:
        value = given["epsilon"].value
        epsilon = number_within(value, "epsilon", LEAST_EPSILON, LARGEST_EPSILON, problems)
    delta = None if privacy is None else privacy.delta
    if "delta" in given:
        value = given["delta"].value
        delta = number_within(value, "delta", LEAST_DELTA, LARGEST_DELTA, problems)
    if name is None or sql is None or seconds is None or offset is None:
        return None
    ranges = _ranges(given, problems)
    continual = None if "ranges" in given else _continual(given, problems)
    if epsilon is None or delta is None:
        return None
    return Publication(
        name=name,
        sql=sql,
        seconds=seconds,
        offset=offset,
        loss=Loss(epsilon, delta),
        continual=continual,
        ranges=ranges,
    )


def _ranges(given: Mapping[str, Entry], problems: ProblemList) -> DaySums | None:
    entry = given.get("ranges")
    if entry is None:
        return None
    for key, hint in _NOT_OF_RANGES.items():
        if key in given:
            what = f"ranges: day releases all days at once, which {key} does not go with"
            problems.add(given[key].key_at, what, hint)
    word, most = text(entry.value, "ranges", problems), given.get("max_days_per_unit")
    if word is not None and word != "day":
        what = f"ranges must be day, not {quoted_text(word)}"
        problems.add(entry.value.at, what, "write ranges: day, and GROUP BY the day in sql")
    if most is None:
        problems.add(
            entry.key_at,
            "ranges needs max_days_per_unit: on so many days at most a person counts",
            "add max_days_per_unit: 7, or 1 where a person is in one day only: the noise grows with it",
        )
        return None
    bound = whole(most.value, "max_days_per_unit", 1, LARGEST_STEPS, problems)
    return None if bound is None else DaySums(most_days=bound)


def _continual(given: Mapping[str, Entry], problems: ProblemList) -> Continual | None:
    """The three keys of a series, which stand together."""
    days, most, only = (given.get(key) for key in ("continual", "max_days_per_unit", "append_only"))
    if days is None:
        for entry in filter(None, (most, only)):
            problems.add(
                entry.key_at,
                f"{entry.key} says something of days in a row, and there is neither continual nor ranges",
                _ONE_OF_TWO if entry is most else _SERIES_ONLY,
            )
        return None
    steps = whole(days.value, "continual", 2, LARGEST_STEPS, problems)
    if most is None:
        problems.add(
            days.key_at,
            "continual needs max_days_per_unit: on so many days at most a person counts",
            "add max_days_per_unit: 7, or 1 where a person is in one day only: the noise grows with it",
        )
    if only is None or switch(only, problems, default=False) is False:
        problems.add(
            (days if only is None else only).key_at,
            "continual needs the promise that rows are added, and never changed or deleted",
            "add append_only: on if that is so; else publish it without continual",
        )
    if most is None or steps is None:
        return None
    bound = whole(most.value, "max_days_per_unit", 1, steps, problems)
    return None if bound is None else Continual(days=steps, most_days=bound)


def _name(entry: Entry, others: dict[str, Publication], problems: ProblemList) -> str | None:
    name = text(entry.value, "name", problems)
    if name is None:
        return None
    if not _NAME.fullmatch(name):
        problems.add(
            entry.value.at,
            f"{quoted_text(name)} cannot be the name of a published table",
            "1 to 56 small letters, digits and _, no digit first: it is written without quotes",
        )
        return None
    if name in others:
        problems.add(
            entry.value.at, f"{quoted_text(name)} is published twice", "give each a name of its own"
        )
        return None
    return name


def _every(entry: Entry, problems: ProblemList) -> int | None:
    word = text(entry.value, "every", problems)
    if word is None:
        return None
    seconds = seconds_of_length(word)
    if not _SOONEST <= seconds <= _LATEST:
        what = "every must be from 5min to 31d, such as 24h"
        problems.add(entry.value.at, what, "write every: 24h, 30min or 7d")
        return None
    return seconds
