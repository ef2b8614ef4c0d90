"""The `accept` of a policy file: findings that its owner knows of and takes the responsibility for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from proxy.policy.finding_names import FindingName
from proxy.policy.policy_model import Acceptance, Said
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, kind, named_entries, text
from proxy.policy_file.policy_shapes import TEXT, Either, Keyed, ListOf, NamedBy, Shape
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

# `said_by` and `said_on` of a policy file: who states something, or takes the responsibility, and when.

SAID_KEYS: Mapping[str, Shape] = {"said_by": TEXT, "said_on": TEXT}
_CHARACTERS = 1000
_NOBODY = ("null", "true", "false", "todo", "tbd", "none", "nobody")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_said(given: Mapping[str, Entry], what: str, problems: ProblemList) -> Said:
    """Of the entries of what these keys may stand in."""
    by = on = None
    if "said_by" in given:
        by = _who(given["said_by"].value, f"said_by of {what}", problems)
    if "said_on" in given:
        on = _day(given["said_on"].value, f"said_on of {what}", problems)
    return Said(by, on)


def _who(node: Node, what: str, problems: ProblemList) -> str | None:
    said = text(node, what, problems)
    if said is None:
        return None
    is_name = said.lower() not in _NOBODY and any(mark.isalpha() for mark in said)
    if not is_name or len(said) > _CHARACTERS or not said.isprintable():
        problems.add(
            node.at,
            f"{what} must be a name, in one line of at most {_CHARACTERS} characters",
            "write the name or the office of who takes the responsibility",
        )
        return None
    return said


def _day(node: Node, what: str, problems: ProblemList) -> date | None:
    said = text(node, what, problems)
    if said is None:
        return None
    try:
        if _DAY.fullmatch(said):
            return date.fromisoformat(said)
    except ValueError:
        pass
    problems.add(node.at, f"{what} must be a date", "write it as 2026-11-27")
    return None


_NAMES = {name.name: name for name in FindingName}
_MOST_COVERED = 1000
_ACCEPTANCE = Keyed(
    {"covers": ListOf(TEXT, _MOST_COVERED), "because": TEXT, **SAID_KEYS},
    required=("because",),
    about="accept",
)
_COVERING = replace(_ACCEPTANCE, required=("covers", "because"))  # where nobody says who said so
_PLACE = Either((TEXT, _ACCEPTANCE))
ACCEPT = Keyed(
    {
        name: Either((TEXT, NamedBy(_PLACE, least=1)))
        for name, finding in _NAMES.items()
        if finding is not FindingName.ACCEPTED_WITHOUT_EFFECT
    }
)
_REASON_CHARACTERS = 1000


def read_acceptances(entry: Entry, problems: ProblemList) -> tuple[Acceptance, ...]:
    """`{FINDING: "reason"}` for wherever it is found, `{FINDING: {where: "reason"}}`, or
    `{FINDING: {where: {covers: [column], because: "reason", said_by: name, said_on: date}}}`. With
    said_by or said_on, covers can be left out."""
    found: list[Acceptance] = []
    for one in (named_entries(entry.value, "accept", problems) or {}).values():
        name = _NAMES.get(one.key)
        if name is None:
            hint = _meant(one) or problems.nearest(one.key.upper(), _NAMES)
            hint = hint or "dpproxy policy manual lists the findings"
            problems.add(one.key_at, f"there is no finding {quoted_text(one.key)}", hint)
        elif name is FindingName.ACCEPTED_WITHOUT_EFFECT:
            problems.add(one.key_at, f"{one.key} cannot be accepted", "remove what has no effect")
        else:
            found.extend(_of(name, one, problems))
    return tuple(found)


def _meant(entry: Entry) -> str:
    """A finding in small letters; a table before the finding."""
    if entry.key.upper() in _NAMES:
        return f"did you mean {quoted_text(entry.key.upper())}?"
    within = entry.value.entries if isinstance(entry.value, MappingNode) else {}
    names = [one.key.upper() for one in within.values() if one.key.upper() in _NAMES]
    if names and entry.key.isprintable():
        return f"the finding comes first: {names[0]}: {{{entry.key[:100]}: ...}}"
    return ""


def _of(name: FindingName, entry: Entry, problems: ProblemList) -> Iterator[Acceptance]:
    if not isinstance(entry.value, MappingNode):
        reason = _reason(entry.value, entry.key, problems)
        if reason is not None:
            yield Acceptance(name, None, reason)
        return
    if not entry.value.entries:
        problems.add(entry.key_at, f"accept of {entry.key} names no place", _HOW)
    for place in entry.value.entries.values():
        if not place.key.isprintable():
            problems.add(
                place.key_at,
                "a place holds a character that cannot be printed",
                "write it as `dpproxy doctor --json` names it (where)",
            )
            continue
        what = f"{entry.key} of {quoted_text(place.key)}"
        if isinstance(place.value, MappingNode):
            bound = _bound(name, place, what, problems)
            if bound is not None:
                yield bound
            continue
        reason = _reason(place.value, what, problems)
        if reason is not None:
            yield Acceptance(name, place.key, reason)


def _bound(name: FindingName, place: Entry, what: str, problems: ProblemList) -> Acceptance | None:
    """With the subjects of the finding that it is about, and who said so when."""
    where = f"accept of {what}"
    inside = place.value.entries if isinstance(place.value, MappingNode) else {}
    shape = _ACCEPTANCE if SAID_KEYS.keys() & inside.keys() else _COVERING
    given = fields(place.value, where, place.key_at, shape, problems)
    if given is None or not given.keys() >= set(shape.required):
        return None
    before = len(problems.found)
    reason = _reason(given["because"].value, what, problems)
    covers = None
    if "covers" in given:
        covers = _covers(given["covers"].value, f"covers of {what}", problems)
    signed = read_said(given, what, problems)
    if reason is None or len(problems.found) > before:
        return None
    return Acceptance(name, place.key, reason, covers, signed)


def _covers(node: Node, what: str, problems: ProblemList) -> frozenset[str] | None:
    match node:
        case SequenceNode(items=items) if 1 <= len(items) <= _MOST_COVERED:
            names = [text(item, "covers", problems) for item in items]
            found = frozenset(name for name in names if name is not None)
            return found if None not in names else None
        case RefusedNode():
            return None
        case _:
            problems.add(
                node.at,
                f"{what} must be a list with 1 to {_MOST_COVERED} names",
                "write covers: [column], as the finding names it",
            )
            return None


# What the program prints where a reason belongs, and what people write who mean to come back to it.
PLACEHOLDER = "the reason"
_PLACEHOLDERS = {
    *(PLACEHOLDER, "a reason", "reason", "your reason", "some reason", "my reason", "because"),
    *("why that is right", "why it is right", "why this is right", "why", "todo", "to do", "tbd"),
    *("fixme", "tbc", "xxx", "asdf", "foo", "bar", "test", "n a", "none", "placeholder"),
}


def _is_placeholder(reason: str) -> bool:
    words = "".join(mark if mark.isalnum() else " " for mark in reason.lower()).split()
    return sum(map(len, words)) < 2 or " ".join(words) in _PLACEHOLDERS


_HOW = 'write {FINDING: "why that is right"} or {FINDING: {schema.table: "why that is right"}}'


def _reason(node: Node, what: str, problems: ProblemList) -> str | None:
    match node:
        case RefusedNode():
            return None
        case MappingNode() | SequenceNode():
            problems.add(node.at, f"accept of {what} needs a reason, not {kind(node)}", _HOW)
            return None
        case ScalarNode(text=reason):
            pass
    if not any(mark.isalpha() for mark in reason) or reason.lower() in ("null", "true", "yes"):
        problems.add(node.at, f"accept of {what} needs a reason", _HOW)
        return None
    if _is_placeholder(reason):
        problems.add(
            node.at,
            f"the reason of {what} is not written yet: {quoted_text(reason)}",
            "say in your own words why nobody's data gets out, such as: it is the desk of the store",
        )
        return None
    if len(reason) > _REASON_CHARACTERS or not reason.isprintable():
        problems.add(
            node.at,
            f"the reason of {what} must be one line of at most {_REASON_CHARACTERS} characters",
            "say it shorter, and name where more is written",
        )
        return None
    return reason
