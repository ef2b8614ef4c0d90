"""The `join_keys` of a table: how its rows are cut before it is joined by something that is no key of it."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.policy.policy_model import JoinKey
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, is_identifier, named_entries, whole
from proxy.policy_file.policy_shapes import Either, Keyed, NamedBy, OneOf, Shape, whole_number
from proxy.policy_file.yaml_positions import Entry, ScalarNode

LARGEST_BOUND = 10_000
_UNIQUE = "unique"
JOIN_KEY_KEYS: Mapping[str, Shape] = {
    "keep": Either((OneOf((_UNIQUE,)), whole_number(1, LARGEST_BOUND))),
}
JOIN_KEYS = NamedBy(Keyed(JOIN_KEY_KEYS, tuple(JOIN_KEY_KEYS)))


def read_join_keys(entry: Entry | None, problems: ProblemList) -> Mapping[str, JoinKey]:
    """By column: `{keep: 3}`, at most three rows of one value, or `{keep: unique}`, rows alone with theirs."""
    keys: dict[str, JoinKey] = {}
    if entry is None:
        return keys
    for key in (named_entries(entry.value, "join_keys", problems) or {}).values():
        where = f"join key {quoted_text(key.key)}"
        found = fields(key.value, where, key.key_at, JOIN_KEY_KEYS, JOIN_KEY_KEYS, problems) or {}
        if not is_identifier(key.key, "a column", key.key_at, problems) or "keep" not in found:
            continue
        bound = found["keep"].value
        if isinstance(bound, ScalarNode) and bound.text == _UNIQUE:
            keys[key.key] = JoinKey(None)
            continue
        if isinstance(bound, ScalarNode) and bound.text.isalpha():
            hint = "write a number of rows, or unique"
            problems.add(bound.at, f"keep cannot be {quoted_text(bound.text)}", hint)
            continue
        most = whole(bound, "keep", 1, LARGEST_BOUND, problems)
        if most is not None:
            keys[key.key] = JoinKey(most)
    return keys
