"""Week starts and bins that tools write by arithmetic (docs: query/bind/nodes/written_bins.py)."""

from __future__ import annotations

from proxy.query.ir.expressions import Expression


def week_of_day(day: Expression, less: Expression) -> Expression | None:
    from proxy.query.bind.nodes import written_bins

    return written_bins.week_of_day(day, less)


def week_of_time(time: Expression) -> Expression | None:
    return None


def bin_of(origin: Expression, steps: Expression) -> Expression | None:
    return None
