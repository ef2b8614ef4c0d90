"""SQLAlchemy, psycopg2 and pg8000 against the whole proxy."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal

import pg8000.dbapi  # type: ignore[import-untyped]
import psycopg2  # type: ignore[import-untyped]
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from tests.live.test_psycopg import COUNT, near
from tests.live_proxy import LiveProxy
from tests.servers_fixture import PASSWORD


def url(live: LiveProxy, driver: str, analyst: str, database: str = "shop") -> sa.URL:
    return sa.URL.create(
        f"postgresql+{driver}", analyst, PASSWORD, "127.0.0.1", live.port, database
    )


ORDERS = sa.table(
    "orders",
    sa.column("status", sa.Text),
    sa.column("total", sa.Numeric),
    sa.column("quantity", sa.Integer),
    schema="shop",
)


_NUMBERS = itertools.count(1)


@pytest.fixture
def analyst(live: LiveProxy) -> str:
    """With a password as the product keeps it: pg8000 takes none that is hashed less often."""
    name = f"of_other_clients_{next(_NUMBERS)}"
    live.servers.add_analyst(name, PASSWORD)
    return name


@pytest.fixture(params=["psycopg", "psycopg2", "pg8000"])
def engine(request: pytest.FixtureRequest, live: LiveProxy, analyst: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(url(live, request.param, analyst))
    yield engine
    engine.dispose()


def grouped() -> sa.Select[tuple[str, int, Decimal]]:
    n = sa.func.count().label("n")
    return (
        sa.select(ORDERS.c.status, n, sa.func.avg(ORDERS.c.total).label("a"))
        .where(ORDERS.c.quantity >= 1)
        .group_by(ORDERS.c.status)
        .having(sa.func.count() > 10)
        .order_by(n.desc())
        .limit(3)
    )


def test_sqlalchemy(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert near(connection.execute(sa.text(COUNT)).scalar_one())
        above = sa.text(COUNT + " WHERE total > :bound AND status <> :status")
        assert near(connection.execute(above, {"bound": -1, "status": "x"}).scalar_one())
        rows = connection.execute(grouped()).all()
        assert len(rows) == 3 and rows[0].status == "shipped"
        assert [type(value) for value in rows[0]] == [str, int, Decimal]
        frame = connection.execute(grouped()).mappings().all()  # as pandas reads it
        assert list(frame[0].keys()) == ["status", "n", "a"]
    with engine.connect() as connection:
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.execute(sa.select(ORDERS.c.total))
        assert "cannot be returned" in str(caught.value)
        connection.rollback()
        assert near(connection.execute(sa.text(COUNT)).scalar_one())


@pytest.mark.every(3)
def test_sqlalchemy_reflection(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_table_names("shop")) == ["customers", "orders", "products"]
    columns = {one["name"]: one["type"] for one in inspector.get_columns("orders", "shop")}
    assert list(columns) == [
        "id", "customer_id", "product_id", "quantity", "total", "status", "created_at",
    ]  # fmt: skip
    assert isinstance(columns["total"], sa.Numeric) and columns["total"].scale == 2
    assert inspector.get_pk_constraint("orders", "shop")["constrained_columns"] == ["id"]
    assert len(inspector.get_foreign_keys("orders", "shop")) == 2
    table = sa.Table("orders", sa.MetaData(), autoload_with=engine, schema="shop")
    with engine.connect() as connection:
        query = sa.select(sa.func.count(table.c.id), sa.func.max(table.c.total))
        row = connection.execute(query).one()
        assert near(row[0]) and isinstance(row[1], Decimal)
        empty = connection.execute(sa.select(table).where(sa.false()))
        assert list(empty.keys()) == list(columns) and empty.all() == []


def test_sqlalchemy_asyncpg(live: LiveProxy, analyst: str) -> None:
    async def talk() -> None:
        engine = create_async_engine(url(live, "asyncpg", analyst))
        async with engine.connect() as connection:
            assert near((await connection.execute(sa.text(COUNT))).scalar_one())
            rows = (await connection.execute(grouped())).all()
            assert len(rows) == 3
            names = await connection.run_sync(lambda c: sa.inspect(c).get_table_names("shop"))
            assert len(names) == 3
            result = await connection.stream(grouped())
            assert len([row async for row in result]) == 3
        await engine.dispose()

    asyncio.run(talk())
    assert live.spent(analyst)[0] == 3


def test_psycopg2(live: LiveProxy, analyst: str) -> None:
    with closing(psycopg2.connect(live.dsn(analyst=analyst))) as connection:
        with connection, connection.cursor() as cursor:
            cursor.execute(COUNT + " WHERE total > %s AND created_at > %s",
                           (Decimal(-1), dt.datetime(1990, 1, 1, tzinfo=dt.timezone.utc)))  # fmt: skip
            assert near(cursor.fetchone()[0])
            assert [(one.name, one.type_code) for one in cursor.description] == [("count", 20)]
            with pytest.raises(psycopg2.errors.FeatureNotSupported), connection.cursor() as other:
                other.execute("SAVEPOINT a")
                other.execute(COUNT + " WHERE random() < %s", (0.5,))
            cursor.execute("ROLLBACK TO a")
            cursor.execute(COUNT)
        with connection, connection.cursor("named") as cursor:
            cursor.execute("SELECT status, count(*) FROM shop.orders GROUP BY status")
            assert len(cursor.fetchmany(2) + cursor.fetchall()) == 4
    assert live.spent(analyst)[0] == 3


def test_pg8000(live: LiveProxy, analyst: str) -> None:
    connection = pg8000.dbapi.connect(
        analyst, host="127.0.0.1", database="shop", port=live.port, password=PASSWORD
    )
    with closing(connection):
        cursor = connection.cursor()
        cursor.execute(COUNT + " WHERE quantity >= %s AND status <> %s", (1, "x"))
        assert near(cursor.fetchall()[0][0])
        cursor.execute("SELECT status, avg(total) FROM shop.orders GROUP BY status")
        assert [type(value) for value in cursor.fetchall()[0]] == [str, Decimal]
        with pytest.raises(pg8000.dbapi.DatabaseError) as caught:
            cursor.execute("SELECT * FROM shop.orders")
        assert caught.value.args[0]["C"] == "42501"
        connection.rollback()
        cursor.execute(COUNT)
        assert near(cursor.fetchall()[0][0])
    assert live.spent(analyst)[0] == 3
