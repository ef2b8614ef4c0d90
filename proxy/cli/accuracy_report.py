"""The table of `dpproxy policy check`: how exact answers will be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from proxy.cli.text_table import text_table
from proxy.policy.accuracy_line import PolicyAccuracy
from proxy.policy.noise_proposal import NoiseProposal
from proxy.policy.policy_model import Policy

_HEADS = (
    "table",
    "column",
    "aggregate",
    "mechanism",
    "95 % error",
    "partitions",
    "units needed",
    "",
)


def accuracy_report(
    policy: Policy, lines: Sequence[PolicyAccuracy], proposals: Sequence[NoiseProposal]
) -> Iterator[str]:
    epsilon, delta = (_number(float(x)) for x in (policy.privacy.epsilon, policy.privacy.delta))
    yield f"Policy for {policy.database}: a statement with one aggregate, at epsilon {epsilon}, delta {delta}"
    yield ""
    yield from text_table(_HEADS, [_row(line) for line in lines])
    yield ""
    yield "k aggregates in one statement: k times the error. Dates in days, timestamps in seconds."
    yield "Smoothed median: the least possible noise; the sampling error of the partitions is added to it."
    yield "n: the number of rows that count. Ranks: how many rows the answer is off in the sorted values;"
    yield "MIN and MAX aim some ranks inside. STDDEV: the variance's error over twice the deviation."
    for proposal in proposals:
        yield ""
        yield f"{proposal.table}: by keys of {proposal.groups} groups or more, `noise: gaussian` would give"
        yield f"COUNT +-{proposal.gaussian_95} instead of +-{proposal.laplace_95}, and SUM in proportion."


def accuracy_json(
    policy: Policy, lines: Sequence[PolicyAccuracy], proposals: Sequence[NoiseProposal]
) -> dict[str, Any]:
    return {
        "database": policy.database,
        "epsilon": float(policy.privacy.epsilon),
        "delta": float(policy.privacy.delta),
        "problems": [],
        "accuracy": [
            {
                "table": line.table,
                "column": line.column,
                "aggregate": line.aggregate.value,
                "mechanism": line.mechanism.value,
                "sensitivity": _float(line.sensitivity),
                "scale": _float(line.scale),
                "error_95": _float(line.error_95),
                "error_times_rows": _float(line.error_times_rows),
                "error_in_rank": line.error_in_rank,
                "partitions": line.partitions,
                "units_needed": line.units_needed,
                "feasible": line.feasible,
            }
            for line in lines
        ],
        "proposals": [
            {
                "table": proposal.table,
                "noise": "gaussian",
                "groups": proposal.groups,
                "count_error_95": proposal.gaussian_95,
                "count_error_95_now": proposal.laplace_95,
            }
            for proposal in proposals
        ],
    }


def _row(line: PolicyAccuracy) -> list[str]:
    return [
        line.table,
        line.column,
        line.aggregate.value,
        line.mechanism.value,
        _error(line),
        "" if line.partitions is None else str(line.partitions),
        "" if line.units_needed is None else str(line.units_needed),
        "" if line.feasible else "useless: the noise covers the whole range",
    ]


def _error(line: PolicyAccuracy) -> str:
    if line.error_in_rank is not None:
        return f"+-{line.error_in_rank} ranks"
    if line.error_times_rows is not None:
        return f"+-{_number(float(line.error_times_rows))} / n"
    assert line.error_95 is not None, "every line has one of the three"
    return f"+-{_number(float(line.error_95))}"


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
