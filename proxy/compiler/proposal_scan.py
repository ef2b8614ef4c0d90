"""How many units have a total of about which size, for bounds that are to be proposed: one scan of a table."""

from __future__ import annotations

from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.instants import iso_text
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.full_joins import has_value
from proxy.compiler.relation_sql import source_sql
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.query.ir.expressions import ColumnRef


def proposal_scan(plan: CheckedProposals, number: int) -> BackendQuery:
    """One row per bound and band: the place of the bound in table.bounds, the band (0: a total of 0 or none, i:
    within the i-th bound, from 1), how many units are in it.

    A value is compared with constants of its type and nothing else, so nothing is computed that could raise.

    Given    number: of the table
    """
    table, binds = plan.proposed[number], Binds()
    bands = [_band(table, bound, binds) for bound in table.bounds]
    found = [] if table.not_null is None else [has_value(table.not_null, binds)]
    by = "" if table.unit is None else f" GROUP BY {column_sql(table.unit)}"
    columns = ", ".join(f"{band} AS t{place}" for place, band in enumerate(bands))
    source = f"SELECT {columns} FROM {source_sql(table.relation, found, binds, table)}{by}"
    listed = ", ".join(
        f"({binds.number(place, 'integer')}, coalesce(t{place}, 0))" for place in range(len(bands))
    )
    sql = (
        f"SELECT c.place, c.band, pg_catalog.count(*) FROM ({source}) u,"
        f" LATERAL (VALUES {listed}) c(place, band) WHERE c.band <> 0 GROUP BY c.place, c.band"
    )
    return BackendQuery(
        sql=sql,
        parameters=binds.values,
        seeds=tuple(binds.seeds),
        keys=0,
        has_sub_partition=False,
        slots=(),
        releases=(),
        scalars=(),
        units=None,
    )


def _band(table: TableProposals, bound: ProposedBound, binds: Binds) -> str:
    bounds = bound.choice.bounds
    beyond = [Fraction(1), *(Fraction(one + 1) for one in bounds)]
    match bound.what:
        case Proposed.ROWS:
            return (
                f"pg_catalog.width_bucket(pg_catalog.count(*)::numeric, {_numbers(beyond, binds)})"
            )
        case Proposed.GROUPS:
            most = limits.KEY_CHARACTERS  # so that what is sorted stays small
            keys = ", ".join(
                f"pg_catalog.left({column_sql(key)}::text, {most})" for key in table.keys
            )
            groups = f"pg_catalog.count(DISTINCT ROW({keys}))::numeric"
            return f"pg_catalog.width_bucket({groups}, {_numbers(beyond, binds)})"
        case Proposed.HIGH:
            assert bound.column is not None
            value, edges = _compared(bound.column, [one * bound.step for one in beyond], binds)
            return _greatest(table, f"pg_catalog.width_bucket({value}, {edges})")
        case Proposed.LOW:
            assert bound.column is not None
            below = sorted(-Fraction(one) * bound.step for one in (0, *bounds))
            value, edges = _compared(bound.column, below, binds)
            number = binds.number(len(below), "integer")
            return _greatest(table, f"({number} - pg_catalog.width_bucket({value}, {edges}))")
        case _:
            assert_never(bound.what)


def _greatest(table: TableProposals, band: str) -> str:
    """Of a unit: the band of its farthest value."""
    return band if table.unit is None else f"pg_catalog.max({band})"


def _compared(column: ColumnRef, edges: list[Fraction], binds: Binds) -> tuple[str, str]:
    """The value, and the edges upwards, in a type in which both are compared."""
    value, kind = column_sql(column), column.type
    if kind.is_time:
        return value, binds.add([iso_text(edge, kind) for edge in edges], f"{kind.sql}[]")
    if kind.is_float:
        texts = [decimal_text(edge) for edge in edges]
        return f"{value}::double precision", binds.add(texts, "double precision[]")
    return f"{value}::numeric", _numbers(edges, binds)


def _numbers(edges: list[Fraction], binds: Binds) -> str:
    return binds.add([decimal_text(edge) for edge in edges], "numeric[]")
