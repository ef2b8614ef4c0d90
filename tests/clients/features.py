"""What each client is asked to do, in the order of the matrix."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """name: as programs print it; title: as the matrix shows it"""

    name: str
    title: str


def _features(**titles: str) -> tuple[Feature, ...]:
    return tuple(Feature(name=name, title=title) for name, title in titles.items())


FEATURES = _features(
    connect="connect with a password",
    tls="connect with TLS, certificate checked",
    reflection="list schemas, tables and columns",
    count="COUNT",
    grouped_sum="SUM by group",
    int_parameter="parameter: integer",
    text_parameter="parameter: text",
    date_parameter="parameter: date",
    timestamp_parameter="parameter: timestamp with time zone",
    list_parameter="parameter: list of texts",
    null_parameter="parameter: NULL",
    prepared="one prepared statement, run twice",
    time_range="`now() - interval '3 years'`",
    transaction="transaction and rollback",
    cancel="cancel",
    refusal="a refusal's message and hint",
    after_error="the session goes on after a refusal",
    temporary_table="answers into a temporary table",
    batches="fetch in batches",
    copy="COPY of answers",
)

# What an object-relational mapper writes of its own.
OF_MAPPER = _features(
    connect="connect with a password",
    tls="connect with TLS, certificate checked",
    introspection="introspect the tables",
    count="`count()`",
    text_parameter="`count()` where a text is equal",
    timestamp_parameter="`count()` from a time on",
    list_parameter="`count()` where a text is in a list",
    aggregate="count, sum, average, least and greatest at once",
    grouped_sum="group by with a sum",
    having="group by with a condition on the count",
    related="`count()` where a related row has a value",
    raw="SQL of one's own, with a parameter",
    two_counts="two counts in one transaction",
    refusal="rows: refused, with the aggregate to use",
    after_error="the connection goes on after a refusal",
)
OF_EXPECTATIONS = _features(
    source="add a data source",
    refused_table="add a protected table: refused without previews",
    table="add a protected table, with `dp.previews=empty`",
    columns="the table has these columns",
    rows="row count between",
    values_in_set="column values in a set",
    not_null="column values not null",
    between="column values between",
    mean="mean between",
    total="sum between",
    distinct="distinct values equal a set",
    query="an expectation of one's own query",
    failing="an expectation that has to fail does",
    unique="column values unique",
    median="median between",
)
OF_METRICFLOW = _features(
    validate="`mf validate-configs --skip-dw`",
    validate_rows="`mf validate-configs`, which explains queries of rows",
    listed="`mf list metrics` and dimensions",
    by_month="a metric by month",
    ranged_month="a metric by month, `--start-time` and `--end-time`",
    dimension="a metric by a dimension, ordered",
    joined="a metric by a dimension of another semantic model",
    filtered="a metric with `--where`",
    ratio="a ratio metric",
    derived="a derived metric with an offset window",
    cumulative="a cumulative metric over a window",
    filled="a metric joined to the time spine",
    values="`mf list dimension-values`",
    explain="`--explain` shows the SQL",
)

OF_DBT = _features(
    debug="`dbt debug`",
    docs="`dbt docs generate`, with types",
    show="`dbt show` of an answer",
    ephemeral="an ephemeral model over answers",
    temporary="a model into a temporary table",
    column_tests="`not_null` and `accepted_values` with a tolerance (`error_if`)",
    tolerance="a test of an answer with a tolerance",
    failing_test="a test that has to fail does",
    raw_rows="raw rows are refused, with the hint",
)
OF_SUPERSET = _features(
    database="connect a database (test, then create)",
    dataset="dataset of a protected table, with its columns and types",
    virtual_answers="virtual dataset of answers",
    virtual_rows="virtual dataset of rows",
    sql_lab="SQL Lab",
    big_number="big number",
    time_comparison="big number with time comparison",
    line="line by month with a time range",
    series_limit="bar with a series limit",
    pivot="pivot table with totals",
    table="table of aggregates",
    filter_values="filter box: values of a column",
    time_filter="dashboard with a time filter",
    raw_rows="raw rows: refused with the hint, or none",
    dashboard="dashboard in Chromium",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table of the matrix."""

    title: str
    clients: tuple[str, ...]
    features: tuple[Feature, ...] = FEATURES
    about: str = ""


SECTIONS = (
    Section(
        title="Drivers and shells",
        clients=("psql", "pgcli", "psycopg 3", "psycopg2", "asyncpg", "pg8000"),
    ),
    Section(
        title="Other languages",
        clients=("pgjdbc", "node-postgres", "postgres.js", "psqlODBC", "lib/pq", "pgx"),
    ),
    Section(
        title="On top of drivers",
        clients=(
            "SQLAlchemy on psycopg",
            "SQLAlchemy on psycopg2",
            "SQLAlchemy on asyncpg",
            "SQLAlchemy on pg8000",
            "pandas",
            "polars",
            "ibis",
            "R with dbplyr",
            "pgbouncer",
        ),
        about="pgbouncer stands before the proxy, in session mode; psycopg 3 is its client.",
    ),
    Section(title="Object-relational mappers", clients=("Prisma", "Sequelize"), features=OF_MAPPER),
    Section(title="dbt", clients=("dbt",), features=OF_DBT),
    Section(
        title="MetricFlow",
        clients=("MetricFlow",),
        features=OF_METRICFLOW,
        about="Cumulative metrics and offsets need a table of days, which the policy makes public.",
    ),
    Section(
        title="Great Expectations",
        clients=("Great Expectations",),
        features=OF_EXPECTATIONS,
        about="Its connection string has `options=-c dp.previews=empty`, as it looks for a row of each table.",
    ),
    Section(
        title="Apache Superset",
        clients=("Superset",),
        features=OF_SUPERSET,
        about="![A dashboard of the demo's shop in Superset](../pictures/superset.png)",
    ),
)
