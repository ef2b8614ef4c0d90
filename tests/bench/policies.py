"""The policies of the benchmark: each is one database that the proxy serves, over the same source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import (
    Bounds,
    Budget,
    Budgets,
    ColumnPolicy,
    IdentifierUnit,
    Mechanism,
    Policy,
    PreparedCopy,
    Privacy,
    ProtectedTable,
    PublicTable,
    Reuse,
    RowUnit,
)

PEOPLE = TableName("bench", "people")
EVENTS = TableName("bench", "events")
GROWING, GROWING_ROWS = TableName("bench", "growing"), (1, 10, 100, 1000, 10_000)
REGIONS = ("North", "South", "East", "West", "Centre")
COUNTRIES = (
    *("US", "DE", "FR", "GB", "IN", "BR", "JP", "CN", "ES", "IT"),
    *("PL", "SE", "MX", "CA", "AU", "NL", "TR", "ZA", "KR", "AR"),
)
READER, READER_PASSWORD = "bench_reader", "reader's password"
_TEN_YEARS = 10 * 365 * 86_400  # a copy is kept for the next run, as its table is
ROWS_PER_USER = 400  # the 99th percentile of rows per user is about 360
ROWS_AT_MOST = 1_000_000
# As on a server that has no such index: the planner may then only scan the table.
_NO_INDEX = "-c enable_indexscan=off -c enable_indexonlyscan=off -c enable_bitmapscan=off"

Served = Mapping[str, tuple[Policy, Catalog]]
_PRIVACY = Privacy(
    Fraction(1),
    Fraction(1, 10**6),
    Fraction(1),
    Fraction(1, 10**6),
)
_BUDGETS = Budgets(
    Budget(Loss(Fraction(10**9), Fraction(99, 100))),
    Budget(Loss(Fraction(10**9), Fraction(99, 100))),
    {},
)


def served(source: str, catalog: Catalog, *, scale: bool) -> Served:
    """Database name -> its policy, and the catalogue as the proxy is to see it.

    Given    scale: also those by which large tables are compared with plain PostgreSQL
    """
    fixed = _events(_USER, ROWS_PER_USER)
    chosen = replace(fixed, max_rows_per_unit=ROWS_AT_MOST, chooses_rows=True)
    found = {
        "people": (_policy("people", source, _people()), catalog),
        "people_kept": (
            replace(_policy("people_kept", source, _people()), reuse=Reuse(31 * 86_400)),
            catalog,
        ),
        # As the product chooses where a policy names no mechanism.
        "people_best": (_policy("people_best", source, _people(), Mechanism.BEST), catalog),
        "events_fixed": (_policy("events_fixed", source, fixed, Mechanism.BEST), catalog),
        "events_auto": (_policy("events_auto", source, chosen, Mechanism.BEST), catalog),
    }
    if scale:
        by_row, by_user = _events(RowUnit(), None), _events(_USER, ROWS_PER_USER)
        by_event = _events(IdentifierUnit("event", "event_id"), 1)
        no_index = make_conninfo(source, options=_NO_INDEX)
        found |= {
            "events_best_by_row": (
                _policy("events_best_by_row", source, by_row, Mechanism.BEST),
                catalog,
            ),
            "events_by_row": (_policy("events_by_row", source, by_row), catalog),
            "events_by_row_no_key": (
                _policy("events_by_row_no_key", source, by_row),
                _without_keys(catalog),
            ),
            "events_by_event": (_policy("events_by_event", source, by_event), catalog),
            "events_by_user": (_policy("events_by_user", source, by_user), catalog),
            "events_by_user_no_index": (
                _policy("events_by_user_no_index", no_index, by_user),
                catalog,
            ),
        }
    return found


def served_with_copies(source: str, catalog: Catalog, *, scale: bool) -> Served:
    """Also a prepared copy of the large table."""
    found = served(source, catalog, scale=scale)
    return {**found, **served_copies(source, catalog, scale=scale)} if scale else found


def served_copies(source: str, catalog: Catalog, *, scale: bool) -> Served:
    """The large table with a prepared copy. It is read by a role of its own: the server says of no table that a
    superuser, who may write it, has a bound."""
    copy = PreparedCopy(table=TableName("dp", "events"), max_age=_TEN_YEARS)
    events = replace(_events(_USER, ROWS_PER_USER), prepared=copy)
    reading = make_conninfo(source, user=READER, password=READER_PASSWORD)
    return {"events_copied": (_policy("events_copied", reading, events, Mechanism.BEST), catalog)}


def served_growing(source: str, catalog: Catalog, *, scale: bool) -> Served:
    """Also one database for each bound on the rows of a unit."""
    found = dict(served(source, catalog, scale=scale))
    for rows in GROWING_ROWS:
        unit = IdentifierUnit("person", f"u{rows}")
        columns = {"amount": ColumnPolicy("amount", bounds=_bounds(0, 1000))}
        table = ProtectedTable(GROWING, unit, columns, max_rows_per_unit=rows)
        found[f"growing_{rows}"] = (
            _policy(f"growing_{rows}", source, table, Mechanism.BEST),
            catalog,
        )
    return found


_USER = IdentifierUnit("user", "user_id")


def _people() -> ProtectedTable:
    return ProtectedTable(
        PEOPLE,
        RowUnit(),
        {
            "age": ColumnPolicy("age", bounds=_bounds(0, 120)),
            "income": ColumnPolicy("income", bounds=_bounds(0, 250_000)),
            "region": ColumnPolicy("region", values=REGIONS),
            "joined": ColumnPolicy("joined"),
        },
    )


def _events(unit: RowUnit | IdentifierUnit, rows: int | None) -> ProtectedTable:
    return ProtectedTable(
        EVENTS,
        unit,
        {
            "amount": ColumnPolicy("amount", bounds=_bounds(0, 1000)),
            "seconds": ColumnPolicy("seconds", bounds=_bounds(0, 3600)),
            "country": ColumnPolicy("country", values=COUNTRIES),
            **({} if _is_of_event(unit) else {"event_id": _EVENT_ID}),
        },
        max_rows_per_unit=rows,
    )


_EVENT_ID = ColumnPolicy("event_id", bounds=Bounds(Fraction(1), Fraction(10_000_000)))


def _is_of_event(unit: RowUnit | IdentifierUnit) -> bool:
    return isinstance(unit, IdentifierUnit) and unit.column == "event_id"


def _bounds(low: int, high: int) -> Bounds:
    return Bounds(Fraction(low), Fraction(high))


def _policy(
    database: str,
    source: str,
    table: ProtectedTable,
    mechanism: Mechanism = Mechanism.SMOOTH_MEDIAN,
) -> Policy:
    tables: dict[TableName, ProtectedTable | PublicTable] = {table.name: table}
    privacy = replace(_PRIVACY, mechanism=mechanism)
    return Policy(database, source, privacy, tables, _BUDGETS, f"policy of {database}")


def _without_keys(catalog: Catalog) -> Catalog:
    def bare(table: Table) -> Table:
        return replace(table, primary_key=(), unique=())

    return replace(catalog, tables={name: bare(table) for name, table in catalog.tables.items()})
