"""`said_by` and `said_on` of a policy file: who states something, or takes the responsibility, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from proxy.policy.policy_model import Said
from proxy.policy_file.policy_errors import ProblemList
from proxy.policy_file.policy_nodes import text
from proxy.policy_file.policy_shapes import TEXT, Shape
from proxy.policy_file.yaml_positions import Entry, Node

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
