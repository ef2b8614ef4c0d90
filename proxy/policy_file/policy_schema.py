"""The JSON Schema of policy files, for editors: made of the shapes that the reader reads by, with the
explanations of the reference of policies. It refuses no file that the reader takes; what it lets pass the
reader may still refuse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from typing_extensions import assert_never

from proxy.policy_file.policy_shapes import (
    Either,
    Keyed,
    KeyList,
    ListOf,
    NamedBy,
    Number,
    NumberWithin,
    OneOf,
    Pair,
    Plain,
    Shape,
)
from proxy.policy_file.policy_yaml import POLICY

# The reference of policies, which `dpproxy policy manual` prints.

MANUAL = Path(__file__).with_name("policy_manual.md")


Schema = dict[str, Any]

SCHEMA_FILE = "policy.schema.json"  # beside the policy, where its first line looks for it
MODELINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
_DIALECT = "http://json-schema.org/draft-07/schema#"  # which all editors know
_SWITCHES: Mapping[str, bool] = {"on": True, "off": False}
_ROW = re.compile(r"\| (?P<names>`[^|]*) \| (?P<text>.*) \|")
_NAME = re.compile(r"`([^`]+)`")
# A text that stands without quotes may be a number or a truth to other readers of YAML.
_ANY_TEXT = ["string", "number", "boolean"]


def policy_schema() -> Schema:
    """
    Gives    the schema, as json.dumps prints it
    Source   JSON Schema draft-07; yaml-language-server's README, "Using inlined schema"
    """
    explained = _explained(MANUAL.read_text(encoding="utf-8"))
    return {
        "$schema": _DIALECT,
        "title": "A policy of dpproxy",
        **_schema(POLICY, explained),
    }


def _explained(manual: str) -> Mapping[str, str]:
    """What the table of keys says, by name."""
    found: dict[str, str] = {}
    for line in manual.splitlines():
        row = _ROW.fullmatch(line)
        if row is not None:
            for name in _NAME.findall(row["names"]):
                found.setdefault(name.replace(": ", "."), row["text"])
    return found


def _schema(shape: Shape, explained: Mapping[str, str]) -> Schema:
    match shape:
        case Plain(pattern=None):
            return {"type": list(_ANY_TEXT)}
        case Plain(pattern=pattern):
            return {"type": "string", "pattern": f"^(?:{pattern})$"}
        case Number(least=least, most=most, below=below):
            return _number("number", least, most, below)
        case NumberWithin(least=least, most=most, is_whole=is_whole):
            return _number("integer" if is_whole else "number", least, most)
        case OneOf(words=words):
            as_truths = [_SWITCHES[word] for word in words if word in _SWITCHES]
            return {"enum": [*words, *as_truths]}
        case Pair(of=of):
            return {
                "type": "array",
                "items": _schema(of, explained),
                "minItems": 2,
                "maxItems": 2,
            }
        case KeyList(most=most):
            items = {"type": [*_ANY_TEXT, "null"]}
            return {"type": "array", "items": items, "minItems": 1, "maxItems": most}
        case ListOf(of=of, most=most):
            return {"type": "array", "items": _schema(of, explained), "maxItems": most}
        case NamedBy(of=of, least=least, most=most):
            named: Schema = {"type": "object", "additionalProperties": _schema(of, explained)}
            if least:
                named["minProperties"] = least
            if most is not None:
                named["maxProperties"] = most
            return named
        case Keyed():
            return _keyed(shape, explained)
        case Either(shapes=shapes):
            return {"anyOf": [_schema(one, explained) for one in shapes]}
        case _:
            assert_never(shape)


def _number(
    kind: str, least: Fraction | None, most: Fraction | None, below: Fraction | None = None
) -> Schema:
    made: Schema = {"type": kind}
    for name, bound in (("minimum", least), ("maximum", most), ("exclusiveMaximum", below)):
        if bound is not None:
            made[name] = _printed(bound)
    return made


def _printed(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _keyed(shape: Keyed, explained: Mapping[str, str]) -> Schema:
    properties: Schema = {}
    for key, of in shape.keys.items():
        made = _schema(of, explained)
        text = explained.get(f"{shape.about}.{key}") or explained.get(key)
        properties[key] = made if text is None else {**made, "description": text}
    keyed: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if shape.required:
        keyed["required"] = list(shape.required)
    return keyed
