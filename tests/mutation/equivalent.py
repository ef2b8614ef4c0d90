"""Mutants that no test can kill, each with the reason: the function, the line, what it becomes."""

from __future__ import annotations

from collections.abc import Mapping

_TRUNCATION = "proxy.planner.truncation"
_HOLDS = f"{_TRUNCATION}.x__holds_the_rows"
_ALWAYS_A_LEAF = "an equality of a join names relations that are leaves of it, so there is a place"
_NEVER_PUBLIC = "both sides of a join that is cut, or that a hint is for, are protected"
_NEVER = "assert_never is for mypy: no other owner exists"

EQUIVALENT: Mapping[tuple[str, str, str], str] = {
    (
        f"{_TRUNCATION}.x_key_rule",
        'table, name = origin(place, column.column) or (None, "")',
        'table, name = origin(place, column.column) or (None, "XXXX")',
    ): "the name is not looked at where there is no table",
    (
        "proxy.mechanisms.discrete_laplace.x_half_width",
        'raise ValueError("an interval needs scale > 0 and 0 < level < 1")',
        'raise ValueError("XXan interval needs scale > 0 and 0 < level < 1XX")',
    ): "the text of an error that only a fault of ours can cause; no user reads it",
    (
        f"{_TRUNCATION}.x_hint",
        "found = None if place is None else origin(place, column.column)",
        "found = None if (place is None) and False else origin(place, column.column)",
    ): _ALWAYS_A_LEAF,
    (
        f"{_TRUNCATION}.x__names_of_rows",
        "case _: return None",
        "",
    ): "a function that ends returns None",
    (_HOLDS, "case PublicRows(): return False", ""): _NEVER_PUBLIC,
    (_HOLDS, "return False", "return True"): _NEVER_PUBLIC,
    (_HOLDS, "case _: assert_never(side.owner)", ""): _NEVER,
    (_HOLDS, "assert_never(side.owner)", "assert_never(None)"): _NEVER,
}
