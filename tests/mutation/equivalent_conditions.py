"""Conditions of the kernel that no test can miss, each with the reason: file, function, what goes."""

from __future__ import annotations

from collections.abc import Mapping

_FOR_MYPY = "for mypy alone: "
_FOR_SPEED = "for speed alone: "
_ENDS = _FOR_MYPY + "a Value has both ends or none, and the other operand asks for that"
_COPY = "kernel/prepared_copies.py"
_NUMBERS = "kernel/number_totality.py"
_WALKS = "not longest.has_longer and (not any((isinstance(part, Inside) for part in parts)))"

EQUIVALENT_CONDITIONS: Mapping[tuple[str, str, str], str] = {
    (
        "kernel/fixed_columns.py",
        "most_groups",
        "without ()",
    ): _FOR_MYPY + "the line before it has let no key without values pass",
    (_NUMBERS, "real_call_rule", "without operand.low is None"): _ENDS,
    (_NUMBERS, "real_call_rule", "without operand.high is None"): _ENDS,
    (
        _NUMBERS,
        "_power",
        "without base.low is None",
    ): _FOR_MYPY + "real_call_rule, which calls it, has returned",
    (
        _COPY,
        "bound_of_copy",
        "without copy is None",
    ): _FOR_MYPY + "without a copy there is no bound, which the next operand asks for",
    (
        _COPY,
        "bound_of_copy",
        "without source is None",
    ): _FOR_MYPY + "without a source there is no column, which the next operand asks for",
    (
        "kernel/well_formed.py",
        "_wanted",
        "without isinstance(one, type)",
    ): _FOR_MYPY + "no plan holds a dataclass as a type's argument",
    (
        "kernel/price.py",
        "Price.__add__",
        "never if self is NOTHING_PAID",
    ): _FOR_SPEED + "nothing and a price add up to the price",
    (
        "kernel/price.py",
        "Price.covers",
        "without self is other",
    ): _FOR_SPEED + "a price is at least itself in every currency",
    (
        "kernel/work.py",
        "block_work",
        f"never if {_WALKS}",
    ): _FOR_SPEED + "both walks see the same where no value can be longer than usual",
}
