"""Charts and the dashboard over the demo's orders, as Superset keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

BY_STATUS = "SELECT status, sum(total) AS total, count(*) AS n FROM shop.orders GROUP BY status"
ROWS = "SELECT status, quantity, total, created_at FROM shop.orders WHERE quantity > 1"
_YEAR = "2025-01-01 : 2026-01-01"
_YEARS = "2024-01-01 : 2026-01-01"


def _metric(sql: str, label: str) -> dict[str, Any]:
    return {"expressionType": "SQL", "sqlExpression": sql, "label": label, "hasCustomLabel": True}


def _within(time_range: str) -> list[dict[str, Any]]:
    return [
        {
            "expressionType": "SIMPLE",
            "clause": "WHERE",
            "subject": "created_at",
            "operator": "TEMPORAL_RANGE",
            "comparator": time_range,
        }
    ]


_ORDERS, _REVENUE = _metric("count(*)", "orders"), _metric("sum(total)", "revenue")
CHARTS: dict[str, dict[str, Any]] = {
    "big_number": {
        "title": "Orders",
        "viz_type": "big_number_total",
        "metric": _ORDERS,
        "y_axis_format": ",d",
        "adhoc_filters": _within("No filter"),
    },
    "time_comparison": {
        "title": "Revenue, and the year before",
        "viz_type": "pop_kpi",
        "metric": _REVENUE,
        "y_axis_format": ",d",
        "adhoc_filters": _within(_YEAR),
        "time_compare": ["1 year ago"],
        "comparison_type": "values",
        "row_limit": 10,
    },
    "line": {
        "title": "Orders by month and status",
        "viz_type": "echarts_timeseries_line",
        "x_axis": "created_at",
        "time_grain_sqla": "P1M",
        "metrics": [_ORDERS],
        "groupby": ["status"],
        "adhoc_filters": _within(_YEARS),
        "row_limit": 10000,
        "show_legend": True,
    },
    "series_limit": {
        "title": "Revenue by year of the two largest statuses",
        "viz_type": "echarts_timeseries_bar",
        "x_axis": "created_at",
        "time_grain_sqla": "P1Y",
        "metrics": [_REVENUE],
        "groupby": ["status"],
        "limit": 2,
        "timeseries_limit_metric": _REVENUE,
        "order_desc": True,
        "adhoc_filters": _within("2022-01-01 : 2026-01-01"),
        "row_limit": 10000,
        "show_legend": True,
    },
    "pivot": {
        "title": "Orders by status and year",
        "viz_type": "pivot_table_v2",
        "groupbyRows": ["status"],
        "groupbyColumns": ["created_at"],
        "temporal_columns_lookup": {"created_at": True},
        "time_grain_sqla": "P1Y",
        "date_format": "%Y",
        "metrics": [_ORDERS],
        "rowTotals": True,
        "colTotals": True,
        "aggregateFunction": "Sum",
        "metricsLayout": "COLUMNS",
        "valueFormat": ",d",
        "row_limit": 10000,
        "adhoc_filters": _within("2022-01-01 : 2026-01-01"),
    },
    "table": {
        "title": "By status",
        "viz_type": "table",
        "query_mode": "aggregate",
        "groupby": ["status"],
        "metrics": [_ORDERS, _REVENUE],
        "row_limit": 1000,
        "show_totals": True,
        "adhoc_filters": _within("No filter"),
    },
    "raw": {
        "title": "Rows",
        "viz_type": "table",
        "query_mode": "raw",
        "all_columns": ["total", "status"],
        "row_limit": 10,
        "adhoc_filters": _within("No filter"),
    },
}


def form(name: str) -> str:
    """A chart's parameters, as text."""
    kept = {key: value for key, value in CHARTS[name].items() if key != "title"}
    return json.dumps({"datasource": "1__table", **kept})


def dashboard(charts: Mapping[str, int]) -> dict[str, Any]:
    """charts: identifiers by name; two to a row"""
    names = list(charts)
    rows = [names[at : at + 2] for at in range(0, len(names), 2)]
    layout: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {
            "type": "GRID",
            "id": "GRID_ID",
            "children": [f"ROW-{n}" for n in range(len(rows))],
            "parents": ["ROOT_ID"],
        },
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": "The demo's shop"}},
    }
    for n, row in enumerate(rows):
        layout[f"ROW-{n}"] = {
            "type": "ROW",
            "id": f"ROW-{n}",
            "children": [f"CHART-{name}" for name in row],
            "parents": ["ROOT_ID", "GRID_ID"],
            "meta": {"background": "BACKGROUND_TRANSPARENT"},
        }
        for name in row:
            layout[f"CHART-{name}"] = {
                "type": "CHART",
                "id": f"CHART-{name}",
                "children": [],
                "parents": ["ROOT_ID", "GRID_ID", f"ROW-{n}"],
                "meta": {
                    "chartId": charts[name],
                    "width": 12 // len(row),
                    "height": 26 if n == 0 else 42,
                    "sliceName": CHARTS[name]["title"],
                },
            }
    scope = {"rootPath": ["ROOT_ID"], "excluded": []}
    common = {"type": "NATIVE_FILTER", "scope": scope, "cascadeParentIds": [], "description": ""}
    states = _native("Status", "filter_select", {"datasetId": 1, "column": {"name": "status"}})
    times = _native("Time range", "filter_time", {}, {"time_range": _YEARS}, {"value": _YEARS})
    return {
        "dashboard_title": "The demo's shop",
        "published": True,
        "position_json": json.dumps(layout),
        "json_metadata": json.dumps(
            {
                "native_filter_configuration": [{**common, **states}, {**common, **times}],
                "chart_configuration": {},
                "cross_filters_enabled": False,
            }
        ),
    }


def _native(
    name: str,
    kind: str,
    target: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "id": f"NATIVE_FILTER-{kind}",
        "name": name,
        "filterType": kind,
        "targets": [target],
        "defaultDataMask": {"extraFormData": extra or {}, "filterState": state or {}},
        "controlValues": {"multiSelect": True, "enableEmptyFilter": False},
    }
