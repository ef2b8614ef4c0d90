"""MetricFlow on dbt: semantic models of the demo's shop in a folder of its own, asked by its command `mf`."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from each_feature import run

PROJECT = Path(os.environ["DP_FOLDER"]) / "metricflow"
PROGRAMS = Path(sys.executable).parent
ENVIRONMENT = {
    **os.environ,
    "DBT_PROFILES_DIR": str(PROJECT),
    "DBT_PROJECT_DIR": str(PROJECT),
    "HOME": str(PROJECT),
    "NO_COLOR": "1",
    "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
}


def said(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [str(PROGRAMS / program), *arguments],
        cwd=PROJECT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    written = done.stdout + done.stderr
    assert done.returncode == 0 and "ERROR:" not in written, written[-700:]
    return written


def rows(metric: str, *more: str) -> list[dict[str, str]]:
    file = PROJECT / "answer.csv"
    file.unlink(missing_ok=True)
    said("mf", "query", "--metrics", metric, "--csv", str(file), *more)
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def query(metric: str, *more: str) -> Callable[[], object]:
    """The metric by the one dimension; of a time its day."""

    def asked() -> object:
        found = rows(metric, *more)
        (label,) = set(found[0]) - {metric}
        return {_day(row[label]): row[metric] or 0 for row in found}

    return asked


def _day(label: str) -> str:
    return label[:10] if label[:4].isdecimal() else label


def validated(*more: str) -> object:
    return "errors: 0" in said("mf", "validate-configs", *more).lower()


def listed() -> object:
    metrics = said("mf", "list", "metrics")
    assert "revenue" in metrics and "recent_orders" in metrics, metrics
    dimensions = said("mf", "list", "dimensions", "--metrics", "revenue")
    return "customer__state" in dimensions and "order__status" in dimensions


def values() -> object:
    of = ("list", "dimension-values", "--metrics", "orders", "--dimension", "order__status")
    found = said("mf", *of)
    return all(status in found for status in ("paid", "shipped", "returned", "cancelled"))


def main() -> None:
    shutil.copytree(Path(__file__).with_name("metricflow"), PROJECT)
    said("dbt", "parse")
    month, day = ("--group-by", "metric_time__month"), ("--group-by", "metric_time__day")
    status, state = ("--group-by", "order__status"), ("--group-by", "customer__state")
    year = ("--start-time", "2024-01-01", "--end-time", "2024-12-31")
    march = ("--start-time", "2024-03-01", "--end-time", "2024-03-10")
    paid = ("--where", "{{ Dimension('order__status') }} = 'paid'")
    run(
        f"MetricFlow {version('metricflow')}, dbt-metricflow {version('dbt-metricflow')}",
        {
            "validate": lambda: validated("--skip-dw"),
            "validate_rows": validated,
            "listed": listed,
            "by_month": query("orders", *month),
            "ranged_month": query("orders", *month, *year),
            "dimension": query("orders", *status, "--order", "-orders"),
            "joined": query("orders", *state),
            "filtered": query("orders", *status, *paid),
            "ratio": query("returned_share", *state),
            "derived": query("growth", *month, *year),
            "cumulative": query("recent_orders", *day, *march),
            "filled": query("orders_or_none", *day, *march),
            "values": values,
            "explain": lambda: (
                "SELECT" in said("mf", "query", "--metrics", "revenue", *month, "--explain")
            ),
        },
    )


if __name__ == "__main__":
    main()
