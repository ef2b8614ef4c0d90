"""The scan by which centres of means are released, by itself: the product reads it as the first part of another
statement (compiler.deviation_scan.centred_scan)."""

from __future__ import annotations

from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.deviation_scan import _Columns, _finished, _of_units
from proxy.kernel.plan import BlockPlan


def centre_scan(plan: BlockPlan) -> BackendQuery:
    """Rows by group and band, of all means of a block."""
    binds = Binds()
    columns = _Columns(plan, _of_units(plan), binds, "NULL")
    sql = f"WITH {columns._gathered()} {' UNION ALL '.join(columns._counted_rows())}"
    return _finished(sql, plan, (), binds)
