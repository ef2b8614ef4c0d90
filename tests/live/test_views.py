"""Views over protected tables are refused where they are made, not where they are read. Others are made."""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_COUNT = "SELECT status, count(*) AS n FROM shop.orders GROUP BY 1"


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE TEMP VIEW v AS {_COUNT}",
        f"create or replace temporary view v as {_COUNT};",
        f"CREATE LOCAL TEMP VIEW v (a, b) AS {_COUNT}",
        f"CREATE TEMP VIEW v WITH (security_barrier) AS {_COUNT}",
        f"CREATE TEMP VIEW v AS WITH q AS ({_COUNT}) SELECT * FROM q",
        f"CREATE TEMP VIEW v AS ({_COUNT})",
        "CREATE TEMP VIEW v AS SELECT * FROM shop.orders WITH LOCAL CHECK OPTION",
        "CREATE TEMP VIEW v AS TABLE shop.orders",
        "CREATE TEMP VIEW v AS SELECT * FROM orders LIMIT 0",
        "CREATE TEMP VIEW v AS SELECT * FROM shop.products WHERE id IN (SELECT product_id FROM shop.orders)",
        "CREATE TEMP RECURSIVE VIEW v (n) AS SELECT count(*) FROM shop.orders UNION ALL SELECT n FROM v",
        f"CREATE VIEW v AS {_COUNT}",
        f"CREATE MATERIALIZED VIEW v AS {_COUNT}",
    ],
)
@pytest.mark.parametrize("is_prepared", [False, True])
def test_a_view_over_a_protected_table(
    live: LiveProxy, analyst: str, text: str, is_prepared: bool
) -> None:
    with live.connect("shop", analyst=analyst) as connection:
        with pytest.raises(
            psycopg.errors.InsufficientPrivilege, match=r"shop\.orders could not be read"
        ):
            connection.execute(text.encode(), () if is_prepared else None, prepare=is_prepared)
        assert connection.execute("SELECT to_regclass('v')").fetchone() == (None,)
    assert live.spent(analyst)[0] == 0


def test_other_views_are_made(live: LiveProxy, analyst: str) -> None:
    """Also over a table of the session's own that has the name of a protected one, with all that a view has."""
    with live.connect("shop", analyst=analyst) as connection:
        connection.execute("CREATE TEMP TABLE orders (id int)")
        connection.execute("INSERT INTO orders VALUES (1), (2)")
        connection.execute("CREATE TEMP VIEW own AS SELECT id FROM orders WITH CHECK OPTION")
        assert connection.execute("SELECT count(*) FROM own").fetchone() == (2,)
        connection.execute(
            "CREATE TEMP RECURSIVE VIEW steps (n) AS SELECT min(id) FROM orders"
            " UNION ALL SELECT n + 1 FROM steps WHERE n < 4"
        )
        assert connection.execute("SELECT count(*) FROM steps").fetchone() == (4,)
        connection.execute("CREATE TEMP VIEW public_ones AS SELECT * FROM shop.products")
        connection.execute('CREATE TEMP TABLE "view" AS SELECT count(*) AS n FROM shop.customers')
        assert connection.execute('SELECT count(*) FROM "view"').fetchone() == (1,)
