"""From a YAML node to one value of the policy (number, name, list of keys) or a problem there.

Every function gives None after it has reported; what could not be read is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from proxy.base.limits import IDENTIFIER_BYTES
from proxy.policy.policy_decimals import decimal
from proxy.policy_file.policy_errors import ProblemList, nearest, quoted_text
from proxy.policy_file.policy_shapes import SWITCH, Keyed, KeyList, NumberWithin
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    Position,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

_Member = TypeVar("_Member", bound=Enum)

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_OF_USERS = ("an analyst", "a group")
_GERMAN_DATE = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
_NOT_FINITE = re.compile(r"[+-]?\.?(nan|inf|infinity)", re.IGNORECASE)
_NULL = ("null", "Null", "NULL", "~")
_NUMBER_CHARACTERS = 60
# How a key that is missing can be written.
EXAMPLES: Mapping[str, str] = {
    "dpproxy": "1",
    "database": "shop",
    "source": "${SHOP_DSN}",
    "privacy": "{epsilon: 1, delta: 1e-8}",
    "tables": "{shop.orders: {unit: {customer: customer_id}}}",
    "budgets": "{total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6}}",
    "total": "{epsilon: 20, delta: 1e-5}",
    "default": "{epsilon: 4, delta: 1e-6}",
    "epsilon": "1",
    "delta": "1e-6",
    "unit": "{person: column}",
    "keep": "unique",
    "noise": "laplace",
    "rows": "3",
    "for": "24h",
    "covers": "[column]",
    "because": '"why that is right"',
}
# Keys of earlier versions: what to do about each, by where it stood.
_REMOVED: Mapping[tuple[str, str], str] = {
    ("privacy", "timeout_floor"): "no statement_timeout ends what is charged: delete this key",
    ("reuse", "top_up"): "answers are drawn whole: delete this key",
}
_EXPONENT = 100  # Fraction("1e999999999") would fill the memory


def fields(
    node: Node,
    where: str,
    at: Position,
    shape: Keyed,
    problems: ProblemList,
) -> Mapping[str, Entry] | None:
    """The entries of a mapping whose keys are fixed. Missing keys are reported at `at`."""
    match node:
        case RefusedNode():
            return None
        case MappingNode(entries=entries):
            known = tuple(shape.keys)
            for entry in entries.values():
                if entry.key not in known:
                    hint = _REMOVED.get((where, entry.key)) or problems.nearest(entry.key, known)
                    hint = hint or f"keys of {where}: {', '.join(known)}"
                    problems.add(
                        entry.key_at, f"unknown key {quoted_text(entry.key)} in {where}", hint
                    )
            for key in shape.required:
                if key not in entries:
                    example = EXAMPLES.get(key)
                    hint = (
                        f"add {key}: {example}"
                        if example
                        else f"dpproxy policy manual explains {key}"
                    )
                    problems.add(at, f"{where} needs the key '{key}'", hint)
            return {key: entry for key, entry in entries.items() if key in known}
        case ScalarNode() | SequenceNode():
            problems.add(
                node.at,
                f"{where} must be a mapping of keys, not {kind(node)}",
                "write {key: value}",
            )
            return None


def named_entries(node: Node, where: str, problems: ProblemList) -> Mapping[str, Entry] | None:
    """The entries of a mapping whose keys the owner chooses."""
    match node:
        case MappingNode(entries=entries):
            return entries
        case RefusedNode():
            return None
        case ScalarNode() | SequenceNode():
            problems.add(
                node.at,
                f"{where} must be a mapping of names, not {kind(node)}",
                "write {name: ...}, or name: ... on a line of its own",
            )
            return None


def text(node: Node, what: str, problems: ProblemList) -> str | None:
    """The text of a scalar, quoted or not."""
    match node:
        case ScalarNode(text=""):
            problems.add(node.at, f"{what} has no value", f"write {what}: ..., or take the key out")
            return None
        case ScalarNode(text=value):
            return value
        case RefusedNode():
            return None
        case MappingNode() | SequenceNode():
            problems.add(
                node.at, f"{what} must be plain text, not {kind(node)}", "write one word or text"
            )
            return None


def identifier(node: Node, what: str, problems: ProblemList) -> str | None:
    """A name of PostgreSQL: of a database, a column, a role."""
    value = text(node, what, problems)
    if value is None or not is_identifier(value, what, node.at, problems):
        return None
    return value


def is_identifier(value: str, what: str, at: Position, problems: ProblemList) -> bool:
    if not value.isprintable():
        hint = "type the name anew: it may hold a tab, or a mark that is not seen"
        problems.add(at, f"{what} holds a character that cannot be printed", hint)
        return False
    if value != value.strip() or len(value.encode()) > IDENTIFIER_BYTES:
        problems.add(
            at,
            f"{what} must be a name of 1 to {IDENTIFIER_BYTES} bytes without blanks around it",
            "write the name as `dpproxy user list` has it"
            if what in _OF_USERS
            else "write the name as the catalogue of the database has it (\\d in psql)",
        )
        return False
    return True


def member(
    entry: Entry | None, known: type[_Member], problems: ProblemList, default: _Member | None = None
) -> _Member | None:
    """The member of an enumeration whose value stands there; the default where nothing does."""
    if entry is None:
        return default
    value = text(entry.value, entry.key, problems)
    if value is None:
        return None
    words = {choice.value: choice for choice in known}
    if value not in words:
        hint = nearest(value, words) or f"one of {', '.join(words)}"
        problems.add(entry.value.at, f"{entry.key} cannot be {quoted_text(value)}", hint)
        return None
    return words[value]


def number(node: Node, what: str, problems: ProblemList) -> Fraction | None:
    """A decimal number, exact: `1e-6` is one millionth, not the float beside it."""
    match node:
        case ScalarNode(text=value, quoted=quoted):
            pass
        case RefusedNode():
            return None
        case MappingNode() | SequenceNode():
            problems.add(
                node.at, f"{what} must be a number, not {kind(node)}", "such as 12, 0.5 or 1e-6"
            )
            return None
    if not value and not quoted:
        problems.add(node.at, f"{what} has no value", "write a number, such as 12, 0.5 or 1e-6")
        return None
    if quoted:
        problems.add(node.at, f"{what} must be a number, not text", "take the quotes away")
        return None
    if _NOT_FINITE.fullmatch(value):
        hint = "write the largest number that makes sense without the data"
        problems.add(node.at, f"{what} must be a finite number", hint)
        return None
    if _LEADING_ZERO.match(value):
        date = _GERMAN_DATE.fullmatch(value)
        hint = "other YAML readers take 010 for 8; write 10"
        if date is not None:
            hint = f"write a date as {date[3]}-{date[2]:0>2}-{date[1]:0>2}"
        problems.add(node.at, f"{what} starts with a zero", hint)
        return None
    found = _DECIMAL.fullmatch(value)
    if found is None:
        problems.add(
            node.at,
            f"{what} must be a decimal number, not {quoted_text(value)}",
            "such as 12, 0.5 or 1e-6",
        )
        return None
    exponent = found.group(1)
    if len(value) > _NUMBER_CHARACTERS or (exponent is not None and abs(int(exponent)) > _EXPONENT):
        problems.add(
            node.at,
            f"{what} is out of range",
            f"at most {_NUMBER_CHARACTERS} characters and an exponent within +-{_EXPONENT}",
        )
        return None
    return Fraction(value)


def number_within(
    entry: Entry | None, shape: NumberWithin, problems: ProblemList
) -> Fraction | None:
    """A number from the least to the most of its shape. None: there is none, or a problem is reported."""
    if entry is None:
        return None
    what, least, most = entry.key, shape.least, shape.most
    value = number(entry.value, what, problems)
    if value is not None and not least <= value <= most:
        nearest_end = least if value < least else most
        problems.add(
            entry.value.at,
            f"{what} must be from {decimal(least)} to {decimal(most)}",
            f"write {decimal(nearest_end)}, or a number between them",
        )
        return None
    return value


def whole(entry: Entry | None, shape: NumberWithin, problems: ProblemList) -> int | None:
    """As number_within, of whole numbers."""
    if entry is None:
        return None
    what, least, most = entry.key, int(shape.least), int(shape.most)
    value = number(entry.value, what, problems)
    if value is None:
        return None
    if value.denominator != 1 or not least <= value <= most:
        near = min(max(round(value), least), most)
        what = f"{what} must be a whole number from {least} to {most}"
        problems.add(entry.value.at, what, f"such as {near}")
        return None
    return int(value)


def values(
    entry: Entry | None, shape: KeyList, problems: ProblemList
) -> tuple[str | None, ...] | None:
    """The list of public keys, as text; a bare null is NULL, 'null' in quotes is a text."""
    if entry is None:
        return None
    node, what, most = entry.value, entry.key, shape.most
    match node:
        case SequenceNode(items=items):
            pass
        case RefusedNode():
            return None
        case ScalarNode() | MappingNode():
            problems.add(node.at, f"{what} must be a list, not {kind(node)}", "write [a, b, c]")
            return None
    if not 1 <= len(items) <= most:
        hint = "leave values out: groups are chosen privately then"
        problems.add(node.at, f"{what} must be a list of 1 to {most} keys", hint)
        return None
    keys: dict[str | None, None] = {}
    complete = True
    for item in items:
        if not isinstance(item, ScalarNode):
            complete = False
            if not isinstance(item, RefusedNode):
                problems.add(
                    item.at,
                    f"a key of {what} must be plain text, not {kind(item)}",
                    "write [a, b, c], each key as PostgreSQL prints it",
                )
            continue
        key = None if not item.quoted and item.text in _NULL else item.text
        if key == "" and not item.quoted:
            problems.add(item.at, f"a key of {what} is empty", "write null or ''")
            complete = False
        elif key in keys:
            problems.add(item.at, f"a key of {what} occurs twice", "take one of them out")
            complete = False
        keys[key] = None
    return tuple(keys) if complete else None


def kind(node: Node) -> str:
    match node:
        case MappingNode():
            return "a mapping"
        case SequenceNode():
            return "a list"
        case ScalarNode(text="", quoted=False):
            return "empty"
        case ScalarNode() | RefusedNode():
            return "a single value"


def switch(entry: Entry | None, problems: ProblemList, *, default: bool) -> bool | None:
    """`on` or `off`; None: a problem is reported."""
    if entry is None:
        return default
    word = text(entry.value, entry.key, problems)
    if word not in (None, *SWITCH.words):
        problems.add(entry.value.at, f"{entry.key} must be on or off", f"write {entry.key}: on")
        return None
    return None if word is None else word == "on"
