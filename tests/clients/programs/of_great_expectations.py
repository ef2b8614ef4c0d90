"""Great Expectations: tables of the demo's shop as assets, and expectations that compare noisy answers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from urllib.parse import quote

os.environ["GX_ANALYTICS_ENABLED"] = "false"

import great_expectations as gx
import great_expectations.expectations as gxe
from each_feature import DATABASE, HOST, PASSWORD, PORT, USER, run

URL = f"postgresql+psycopg2://{USER}:{quote(PASSWORD)}@{HOST}:{PORT}/{DATABASE}"
EMPTY = f"{URL}?options={quote('-c dp.previews=empty')}"
STATUSES = ["paid", "shipped", "returned", "cancelled"]
NUMBERS = itertools.count(1)
CONTEXT = gx.get_context(mode="ephemeral")
CONTEXT.variables.progress_bars = {"globally": False}


def source(name: str, url: str) -> gx.datasource.fluent.PostgresDatasource:
    return CONTEXT.data_sources.add_postgres(name, connection_string=url)


def refused() -> object:
    try:
        source("refusing", URL).add_table_asset("orders", table_name="orders", schema_name="shop")
    except Exception as error:
        return "cannot" in str(error) or "exists" in str(error)
    return False


def table() -> object:
    asset = source("shop", EMPTY).add_table_asset("orders", table_name="orders", schema_name="shop")
    return asset.name == "orders"


def meets(expectation: gxe.Expectation, times: int = 1) -> Callable[[], object]:
    """Whether the table meets it each time, or what it says instead."""

    def met() -> object:
        asset = CONTEXT.data_sources.get("shop").get_asset("orders")
        for _ in range(times):
            batch = asset.add_batch_definition_whole_table(f"batch {next(NUMBERS)}").get_batch()
            found = batch.validate(expectation)
            is_error = "'raised_exception': False" not in str(found.exception_info)
            text = str(found.exception_info if is_error else found.result)
            assert '_count\\": -' not in text, (
                "it takes no negative count, which one around 0 may be"
            )
            assert found.success, text[:280]
        return True

    return met


def counted(expectation: gxe.Expectation) -> Callable[[], object]:
    """One that counts the rows that do not meet it, which are none: in half of the draws fewer."""
    return meets(expectation, times=8)


def fails(expectation: gxe.Expectation) -> Callable[[], object]:
    def failed() -> object:
        try:
            meets(expectation)()
        except AssertionError as error:
            return "observed_value" in str(error)
        return False

    return failed


def main() -> None:
    low = "SELECT status, count(*) AS n FROM {batch} GROUP BY status HAVING count(*) < 1000"
    own = gxe.UnexpectedRowsExpectation(unexpected_rows_query=low)
    run(
        f"Great Expectations {gx.__version__}",
        {
            "source": lambda: source("alone", EMPTY).name == "alone",
            "refused_table": refused,
            "table": table,
            "columns": meets(gxe.ExpectColumnToExist(column="status")),
            "rows": meets(gxe.ExpectTableRowCountToBeBetween(min_value=58_000, max_value=62_000)),
            "values_in_set": counted(
                gxe.ExpectColumnValuesToBeInSet(column="status", value_set=STATUSES, mostly=0.99)
            ),
            "not_null": counted(gxe.ExpectColumnValuesToNotBeNull(column="total", mostly=0.99)),
            "between": counted(
                gxe.ExpectColumnValuesToBeBetween(
                    column="quantity", min_value=1, max_value=20, mostly=0.99
                )
            ),
            "mean": meets(
                gxe.ExpectColumnMeanToBeBetween(column="total", min_value=20, max_value=200)
            ),
            "total": meets(
                gxe.ExpectColumnSumToBeBetween(
                    column="quantity", min_value=60_000, max_value=600_000
                )
            ),
            "distinct": counted(
                gxe.ExpectColumnDistinctValuesToEqualSet(column="status", value_set=STATUSES)
            ),
            "query": meets(own),
            "failing": fails(gxe.ExpectTableRowCountToBeBetween(min_value=1, max_value=1000)),
            "unique": counted(gxe.ExpectColumnValuesToBeUnique(column="id", mostly=0.9)),
            "median": meets(
                gxe.ExpectColumnMedianToBeBetween(column="total", min_value=5, max_value=200)
            ),
        },
    )


if __name__ == "__main__":
    main()
