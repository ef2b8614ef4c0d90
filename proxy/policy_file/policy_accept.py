"""The `accept` of a policy file: findings that its owner knows of and takes the responsibility for."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.policy.finding_names import FindingName
from proxy.policy.policy_model import Acceptance
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import kind, named_entries
from proxy.policy_file.policy_shapes import TEXT, Either, Keyed, NamedBy
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

_NAMES = {name.name: name for name in FindingName}
ACCEPT = Keyed(
    {
        name: Either((TEXT, NamedBy(TEXT, least=1)))
        for name, finding in _NAMES.items()
        if finding is not FindingName.ACCEPTED_WITHOUT_EFFECT
    }
)
_REASON_CHARACTERS = 1000


def read_acceptances(entry: Entry, problems: ProblemList) -> tuple[Acceptance, ...]:
    """`{FINDING: "reason"}` for wherever it is found, or `{FINDING: {where: "reason"}}`."""
    found: list[Acceptance] = []
    for one in (named_entries(entry.value, "accept", problems) or {}).values():
        name = _NAMES.get(one.key)
        if name is None:
            hint = problems.nearest(one.key, _NAMES) or "dpproxy policy manual lists the findings"
            problems.add(one.key_at, f"there is no finding {quoted_text(one.key)}", hint)
        elif name is FindingName.ACCEPTED_WITHOUT_EFFECT:
            problems.add(one.key_at, f"{one.key} cannot be accepted", "remove what has no effect")
        else:
            found.extend(_of(name, one, problems))
    return tuple(found)


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
        reason = _reason(place.value, f"{entry.key} of {quoted_text(place.key)}", problems)
        if reason is not None:
            yield Acceptance(name, place.key, reason)


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
    if len(reason) > _REASON_CHARACTERS or not reason.isprintable():
        problems.add(
            node.at,
            f"the reason of {what} must be one line of at most {_REASON_CHARACTERS} characters",
            "say it shorter, and name where more is written",
        )
        return None
    return reason
