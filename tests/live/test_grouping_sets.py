"""Each level of GROUPING SETS, ROLLUP and CUBE is paid; what they answer is in tests/sql/relations.sql."""

from __future__ import annotations

import re

from tests.live.conftest import RELATIONS
from tests.live_proxy import LiveProxy


def test_every_level_is_paid(live: LiveProxy) -> None:
    """EXPLAIN names a block for each level, which share epsilon; the charge is the statement's, once."""
    sql = "SELECT kind, paid, count(*) FROM r.rentals GROUP BY ROLLUP (kind, paid)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        explained = [row[0] for row in connection.execute(f"EXPLAIN (VERBOSE) {sql}".encode())]
        assert sum("33.3 %" in line for line in explained) == 3
        before = connection.execute("SELECT epsilon_spent FROM dp.budget").fetchone()
        connection.execute(sql.encode())
        after = connection.execute("SELECT epsilon_spent FROM dp.budget").fetchone()
        assert before is not None and after is not None and after[0] - before[0] == 1


def test_copied_and_prepared(live: LiveProxy) -> None:
    """COPY puts the relation into the text, where it stands once."""
    sql = "SELECT kind, grouping(kind), count(*) FROM r.rentals WHERE paid = {} GROUP BY ROLLUP (kind)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        given = connection.execute(sql.format("%s").encode(), (True,), prepare=True).fetchall()
        copy = f"COPY ({sql.format('true')}) TO STDOUT"
        with connection.cursor().copy(copy.encode()) as copied:
            copied.set_types(["text", "int4", "int8"])
            assert sorted(copied.rows(), key=repr) == sorted(given, key=repr)


def test_a_line_about_groups_names_their_level(live: LiveProxy) -> None:
    """Of one level it is known which groups are meant. Which lines there are is drawn."""
    with live.connect("shop", analyst=live.servers.new_analyst()) as connection:
        heard: list[str] = []
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = on")
        for keys, level in (
            ("CUBE (category, status)", " groups by (category and status|category|status): "),
            ("category, status", " groups: "),
        ):
            heard.clear()
            connection.execute(
                "SELECT category, status, avg(total) FROM shop.orders o JOIN shop.products p ON p.id ="
                f" o.product_id WHERE created_at = '2024-05-01' GROUP BY {keys}".encode()
            )
            for line in (line for text in heard for line in text.splitlines()):
                if line.startswith("avg is NULL in "):
                    assert re.search(rf" of [0-9]+{level}", line), line


def test_a_column_has_one_error_for_all_levels(live: LiveProxy) -> None:
    sql = "SELECT kind, count(*) AS n FROM r.rentals GROUP BY ROLLUP (kind)"
    with live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection:
        heard: list[str] = []
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = on")
        connection.execute(sql.encode())
    lines = [line for text in heard for line in text.splitlines() if line.strip().startswith("n:")]
    assert len(lines) == 1, heard
