"""JSON Schema as far as that of policies uses it, and YAML as editors read it: by the core of YAML 1.2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proxy.policy_file.yaml_positions import (
    MappingNode,
    Node,
    RefusedNode,
    ScalarNode,
    SequenceNode,
    compose,
)

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_KNOWN = {
    *("$schema", "title", "description", "type", "properties", "additionalProperties", "required"),
    *(
        "enum",
        "anyOf",
        "items",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
    ),
    *("minimum", "maximum", "exclusiveMaximum"),
}


def as_editors_read(text: str) -> Any:
    root, problems = compose(text)
    assert root is not None and not problems
    return _value(root)


def _value(node: Node) -> Any:
    match node:
        case MappingNode(entries=entries):
            return {key: _value(entry.value) for key, entry in entries.items()}
        case SequenceNode(items=items):
            return [_value(item) for item in items]
        case ScalarNode(text=text, quoted=quoted):
            return text if quoted else _plain(text)
        case RefusedNode():
            raise AssertionError("no policy")


def _plain(text: str) -> Any:
    if text in ("", "null", "Null", "NULL", "~"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def complaints(value: Any, schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """What a schema has against a value; nothing: it is valid."""
    assert set(schema) <= _KNOWN, set(schema) - _KNOWN
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{where} is not {' or '.join(kinds)}"
        return
    if "enum" in schema and not any(value == e and type(value) is type(e) for e in schema["enum"]):
        yield f"{where} is none of {schema['enum']}"
    if "anyOf" in schema and all(list(complaints(value, one, where)) for one in schema["anyOf"]):
        yield f"{where} is none of what it can be"
    if isinstance(value, dict):
        yield from _of_mapping(value, schema, where)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
        for number, item in enumerate(value):
            yield from complaints(item, schema.get("items", {}), f"{where}[{number}]")
    elif isinstance(value, str):
        if "pattern" in schema and re.search(schema["pattern"], value) is None:
            yield f"{where} is not as {schema['pattern']}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        below, low, high = (schema.get(k) for k in ("exclusiveMaximum", "minimum", "maximum"))
        if (low is not None and value < low) or (high is not None and value > high):
            yield f"{where} is out of range"
        if below is not None and value >= below:
            yield f"{where} is out of range"


def _of_mapping(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{where} has {len(value)} keys"
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{where} needs {key}"
    for key, item in value.items():
        known = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
        if known is False:
            yield f"{where}.{key} is not known"
        else:
            yield from complaints(item, known, f"{where}.{key}")


def _is(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int):
        return kind in ("integer", "number")
    if isinstance(value, float):
        return kind == "number"
    return isinstance(value, {"string": str, "array": list, "object": dict}.get(kind, ()))
