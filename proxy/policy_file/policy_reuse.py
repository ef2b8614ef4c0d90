"""The `reuse` of a policy file: for how long an answer is kept, and when a new slot begins."""

from __future__ import annotations

import re
from collections.abc import Mapping

from proxy.policy.policy_model import Reuse
from proxy.policy_file.policy_errors import ProblemList
from proxy.policy_file.policy_nodes import fields, switch, text
from proxy.policy_file.policy_shapes import SWITCH, Either, Keyed, OneOf, Plain, Shape
from proxy.policy_file.yaml_positions import Entry, MappingNode

LENGTH = re.compile(r"([0-9]{1,4})(min|h|d)")
TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
REUSE_KEYS: Mapping[str, Shape] = {
    "for": Plain(LENGTH.pattern),
    "from": Plain(TIME_OF_DAY.pattern),
    "lift": SWITCH,
    "now": Either((OneOf(("exact",)), Plain(LENGTH.pattern))),
    "windows": Either((OneOf(("exact",)), Plain(LENGTH.pattern))),
}
_REQUIRED = ("for",)
REUSE = Either((OneOf(("none",)), Plain(LENGTH.pattern), Keyed(REUSE_KEYS, _REQUIRED)))
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
    found = fields(entry.value, "reuse", entry.key_at, REUSE_KEYS, _REQUIRED, problems)
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
