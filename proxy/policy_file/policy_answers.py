"""How questions are answered, in a policy file: `privacy`, `agents`, `reuse` and `publish`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from proxy.mechanisms.continual import LARGEST_STEPS
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Mechanism, MedianNoise, Noise, Privacy, Reuse, Weighed
from proxy.policy.publication import Continual, DaySums, Publication
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, kind, member, number_within, switch, text, whole
from proxy.policy_file.policy_shapes import (
    SWITCH,
    TEXT,
    Either,
    Keyed,
    ListOf,
    NumberWithin,
    OneOf,
    Plain,
    one_of,
    whole_number,
)
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

# The `privacy` and the `agents` of a policy file: epsilon and delta of a question, what the noise of its
# answers is, and what an agent may spend without asking a person.

_LARGEST_EPSILON = Fraction(100)  # e^epsilon is far from overflow; no promise is left by then
_EPSILON = NumberWithin(Fraction(1, 10**6), _LARGEST_EPSILON)
_LARGEST_DELTA = Fraction(735, 1000)  # below 2/e: the smoothed median's theorem needs that
_DELTA = NumberWithin(Fraction(1, 10**100), _LARGEST_DELTA)
_WEIGHT = NumberWithin(Fraction(1, 1000), Fraction(1000))

_MEDIAN = Keyed({"noise": one_of(MedianNoise)}, required=("noise",))
_WEIGHTS = Keyed({of.value: _WEIGHT for of in Weighed})
PRIVACY = Keyed(
    {
        "epsilon": _EPSILON,
        "delta": _DELTA,
        "max_epsilon": _EPSILON,
        "noise": one_of(Noise),
        "median": _MEDIAN,
        "mechanism": one_of(Mechanism),
        "weights": _WEIGHTS,
        "round": SWITCH,
        "published": SWITCH,
        "notice": SWITCH,
    },
    required=("epsilon", "delta"),
    about="privacy",
)
_APPROVE = "approve_above"
_APPROVED_ABOVE = NumberWithin(Fraction(0), _LARGEST_EPSILON)
AGENTS = Keyed({_APPROVE: _APPROVED_ABOVE}, required=(_APPROVE,), about="agents")


def read_privacy(entry: Entry, problems: ProblemList) -> Privacy | None:
    found = fields(entry.value, "privacy", entry.key_at, PRIVACY, problems)
    if found is None:
        return None
    noise = member(found.get("noise"), Noise, problems, Noise.LAPLACE)
    median_noise = _median_noise(found.get("median"), problems)
    mechanism = member(found.get("mechanism"), Mechanism, problems, Mechanism.AUTO)
    weights = _weights(found.get("weights"), problems)
    is_rounded = switch(found.get("round"), problems, default=False)
    uses_published = switch(found.get("published"), problems, default=True)
    has_notices = switch(found.get("notice"), problems, default=True)
    epsilon = number_within(found.get("epsilon"), _EPSILON, problems)
    max_epsilon = number_within(found.get("max_epsilon"), _EPSILON, problems)
    delta = number_within(found.get("delta"), _DELTA, problems)
    if epsilon is not None and max_epsilon is not None and max_epsilon < epsilon:
        hint = "leave max_epsilon out: it is epsilon then"
        problems.add(found["max_epsilon"].value.at, "max_epsilon cannot be below epsilon", hint)
    if epsilon is None or delta is None:
        return None
    if noise is None or median_noise is None or mechanism is None or weights is None:
        return None
    if is_rounded is None or uses_published is None or has_notices is None:
        return None
    most = epsilon if max_epsilon is None else max_epsilon
    return Privacy(
        *(epsilon, delta, most, delta, noise, median_noise, mechanism, weights),
        is_rounded=is_rounded,
        uses_published=uses_published,
        has_notices=has_notices,
    )


def _median_noise(entry: Entry | None, problems: ProblemList) -> MedianNoise | None:
    if entry is None:
        return MedianNoise.LAPLACE
    found = fields(entry.value, "median", entry.key_at, _MEDIAN, problems)
    return member((found or {}).get("noise"), MedianNoise, problems)


def _weights(entry: Entry | None, problems: ProblemList) -> Mapping[Weighed, Fraction] | None:
    if entry is None:
        return {}
    known = {member.value: member for member in Weighed}
    found = fields(entry.value, "weights", entry.key_at, _WEIGHTS, problems)
    if found is None:
        return None
    weights = {known[key]: number_within(of, _WEIGHT, problems) for key, of in found.items()}
    read = {of: weight for of, weight in weights.items() if weight is not None}
    return read if len(read) == len(weights) else None


def read_approve_above(entry: Entry | None, problems: ProblemList) -> Fraction | None:
    """Read above which epsilon a person approves a statement of an agent.

    Returns:
        None: nobody has to, or a problem is reported.
    """
    if entry is None:
        return None
    found = fields(entry.value, "agents", entry.key_at, AGENTS, problems) or {}
    return number_within(found.get(_APPROVE), _APPROVED_ABOVE, problems)


# The `reuse` of a policy file: for how long an answer is kept, and when a new slot begins.

LENGTH = re.compile(r"([0-9]{1,4})(min|h|d)")
TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_LENGTH, _TIME_OF_DAY = Plain(LENGTH.pattern), Plain(TIME_OF_DAY.pattern)
_STEP = Either((OneOf(("exact",)), _LENGTH))
_REUSE = Keyed(
    {"for": _LENGTH, "from": _TIME_OF_DAY, "lift": SWITCH, "now": _STEP, "windows": _STEP},
    required=("for",),
)
REUSE = Either((OneOf(("none",)), _LENGTH, _REUSE))
_SECONDS = {"min": 60, "h": 3600, "d": 86_400}
_LONGEST = 31 * 86_400


def read_reuse(entry: Entry | None, problems: ProblemList) -> Reuse | None:
    """None: nothing is kept, or a problem is reported. Where nothing is said, a day: a dashboard that is looked
    at again and again would else eat the budget of a month in a morning."""
    if entry is None:
        return Reuse(_SECONDS["d"])
    if not isinstance(entry.value, MappingNode):
        word = text(entry.value, "reuse", problems)
        if word is None or word == "none":
            return None
        seconds = _slot(word, entry, problems)
        return None if seconds is None else Reuse(seconds)
    found = fields(entry.value, "reuse", entry.key_at, _REUSE, problems)
    if found is None or "for" not in found:
        return None
    length = text(found["for"].value, "for", problems)
    seconds = None if length is None else _slot(length, found["for"], problems)
    offset = offset_of(found.get("from"), problems)
    is_lifted = switch(found.get("lift"), problems, default=True)
    now, windows = found.get("now"), found.get("windows")
    step = _step(now, seconds, problems)
    window_step = _step(windows, seconds, problems)
    if seconds is None or offset is None or is_lifted is None:
        return None
    is_exact = now is not None and step is None
    return Reuse(seconds, offset, is_lifted, step, is_exact, window_step or 1)


def _slot(word: str, entry: Entry, problems: ProblemList) -> int | None:
    seconds = seconds_of_length(word)
    if not 60 <= seconds <= _LONGEST:
        is_step = entry.key in ("now", "windows")
        none = "exact" if is_step else "none"
        what = f"{entry.key} must be {none}, or from 1min to 31d, such as 24h"
        examples = "1h or 15min" if is_step else "24h, 30min or 7d"
        problems.add(entry.value.at, what, f"write {entry.key}: {examples}")
        return None
    return seconds


def _step(entry: Entry | None, slot: int | None, problems: ProblemList) -> int | None:
    """Slots are of whole steps: else a question would change within one."""
    word = None if entry is None else text(entry.value, entry.key, problems)
    if entry is None or word is None or word == "exact":
        return None
    seconds = _slot(word, entry, problems)
    if seconds is not None and slot is not None and slot % seconds:
        what = f"{entry.key} must divide what `for` says, such as {entry.key}: 1h of for: 24h"
        divides = "1h" if slot % 3600 == 0 else "1min"
        problems.add(entry.value.at, what, f"write {entry.key}: {divides}")
    return seconds


def seconds_of_length(word: str) -> int:
    """0 where the word is no length, as `24h` is one."""
    found = LENGTH.fullmatch(word)
    return 0 if found is None else int(found[1]) * _SECONDS[found[2]]


def offset_of(entry: Entry | None, problems: ProblemList) -> int | None:
    """Seconds after midnight at which slots begin, by `from`."""
    if entry is None:
        return 0
    word = text(entry.value, "from", problems)
    found = None if word is None else TIME_OF_DAY.fullmatch(word)
    if found is None:
        if word is not None:
            what = "from must be a time of day in UTC, such as '04:00'"
            problems.add(entry.value.at, what, "hours and minutes, in quotes")
        return None
    return int(found[1]) * 3600 + int(found[2]) * 60


_MOST = 200
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,55}")
_DAYS, _DAYS_OF_UNIT = whole_number(2, LARGEST_STEPS), whole_number(1, LARGEST_STEPS)
_PUBLICATION = Keyed(
    {
        "name": Plain(_NAME.pattern),
        "sql": TEXT,
        "every": _LENGTH,
        "from": _TIME_OF_DAY,
        "epsilon": _EPSILON,
        "delta": _DELTA,
        "continual": _DAYS,
        "ranges": OneOf(("day",)),
        "max_days_per_unit": _DAYS_OF_UNIT,
        "append_only": SWITCH,
    },
    required=("name", "sql", "every", "epsilon"),
    about="publish",
)
PUBLISH = ListOf(_PUBLICATION, _MOST)
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
    given = fields(node, where, node.at, _PUBLICATION, problems)
    if given is None:
        return None
    name = _name(given["name"], others, problems) if "name" in given else None
    sql = text(given["sql"].value, "sql", problems) if "sql" in given else None
    seconds = _every(given["every"], problems) if "every" in given else None
    offset = offset_of(given.get("from"), problems)
    epsilon = number_within(given.get("epsilon"), _EPSILON, problems)
    delta = None if privacy is None else privacy.delta
    if "delta" in given:
        delta = number_within(given["delta"], _DELTA, problems)
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
    bound = whole(most, _DAYS_OF_UNIT, problems)
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
    steps = whole(days, _DAYS, problems)
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
    bound = whole(most, whole_number(1, steps), problems)
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
