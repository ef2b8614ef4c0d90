"""ibis: reflection by its own queries, and expressions that it compiles."""

from __future__ import annotations

from typing import Any

import ibis
from each_feature import (
    CERTIFICATE,
    DATABASE,
    GIVEN,
    HOST,
    PASSWORD,
    PORT,
    SQL,
    TLS_PORT,
    USER,
    absent,
    run,
)

WAY: dict[str, Any] = {"user": USER, "password": PASSWORD, "database": DATABASE}


def connected(**more: Any) -> Any:
    return ibis.postgres.connect(**{"host": HOST, "port": PORT, **WAY, **more})


def orders() -> Any:
    return connected().table("orders", database="shop")


def one(session: Any) -> object:
    with session.raw_sql(SQL["one"]) as cursor:
        return cursor.fetchone()[0]


def tls() -> object:
    way = {"sslmode": "verify-full", "sslrootcert": CERTIFICATE}
    return one(connected(host="localhost", port=TLS_PORT, **way))


def reflection() -> object:
    session = connected()
    return {
        "schemas": session.list_databases(),
        "tables": session.list_tables(database="shop"),
        "columns": list(session.table("orders", database="shop").columns),
    }


def grouped_sum() -> object:
    table = orders()
    frame = table.group_by("status").aggregate(total=table.total.sum()).order_by("status").execute()
    return dict(frame.itertuples(index=False))


def count(name: str) -> object:
    value: Any = GIVEN[name]
    table = orders()
    match name:
        case "int":
            kept = table.filter(table.quantity >= value)
        case "text":
            kept = table.filter(table.status == value)
        case "date":
            people = connected().table("customers", database="shop")
            kept = people.filter(people.birth_date >= value)
        case "timestamp":
            kept = table.filter(table.created_at >= value)
        case "list":
            kept = table.filter(table.status.isin(value))
        case _:
            kept = table.filter(table.status == ibis.coalesce(ibis.null("string"), "paid"))
    return kept.count().execute()


def time_range() -> object:
    table = orders()
    return table.filter(table.created_at >= ibis.now() - ibis.interval(years=3)).count().execute()


def refusal() -> object:
    try:
        orders().select("total").limit(5).execute()
    except Exception as error:
        return [None, str(error), str(error)]


def after_error() -> object:
    table = orders()
    try:
        table.select("total").limit(5).execute()
    except Exception:
        return table.count().execute()


def temporary_table() -> object:
    session = connected()
    table = session.table("orders", database="shop")
    answers = table.group_by("status").aggregate(n=table.count())
    return session.create_table("answers", answers, temp=True).n.sum().execute()


def batches() -> object:
    table = orders()
    grouped = table.group_by("status").aggregate(n=table.count()).order_by("status")
    return [len(part) for part in grouped.to_pyarrow_batches(chunk_size=3)]


if __name__ == "__main__":
    of_driver = absent("that of psycopg, which it uses")
    run(
        f"ibis {ibis.__version__}",
        {
            "connect": lambda: one(connected()),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: orders().count().execute(),
            "grouped_sum": grouped_sum,
            **{f"{name}_parameter": (lambda name=name: count(name)) for name in GIVEN},
            "prepared": of_driver,
            "time_range": time_range,
            "transaction": of_driver,
            "cancel": of_driver,
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": of_driver,
        },
    )
