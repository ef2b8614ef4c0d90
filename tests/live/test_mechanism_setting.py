"""dp.mechanism of a session: AVG, MIN and MAX by the smoothed median at will, or as the policy says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_TEXT = "SELECT avg(total), max(total) FROM shop.orders"
_SMOOTH = "SET dp.mechanism = smooth_median"
_EXPLAINED = "dp.mechanism = smooth_median: AVG, MIN and MAX are made with it"


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


def _plan(connection: psycopg.Connection, text: str = _TEXT) -> str:
    rows = connection.execute(f"EXPLAIN (VERBOSE) {text}".encode()).fetchall()
    return "\n".join(line for (line,) in rows)


def _is_smooth(connection: psycopg.Connection) -> bool:
    plan = _plan(connection)
    found = plan.count(": smoothed median")
    assert found in (0, 2), plan
    return found == 2


def _shown(connection: psycopg.Connection) -> str:
    row = connection.execute("SHOW dp.mechanism").fetchone()
    assert row is not None
    return str(row[0])


def test_set_show_and_reset(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        assert (_shown(connection), _is_smooth(connection)) == ("policy", False)
        connection.execute(_SMOOTH.encode())
        assert (_shown(connection), _is_smooth(connection)) == ("smooth_median", True)
        summary = connection.execute(f"EXPLAIN {_TEXT}".encode()).fetchall()
        assert any(_EXPLAINED in line for (line,) in summary)
        ((told,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {_TEXT}".encode()).fetchall()
        assert told[0]["mechanism"] == "smooth_median"
        connection.execute("RESET dp.mechanism")
        assert (_shown(connection), _is_smooth(connection)) == ("policy", False)
    assert live.spent(analyst)[0] == 0


def test_set_local_ends_with_its_transaction(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with connection.transaction():
            connection.execute("SET LOCAL dp.mechanism = smooth_median")
            assert _is_smooth(connection)
        assert not _is_smooth(connection)


def test_a_session_begins_with_it(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst, options="-c dp.mechanism=smooth_median") as connection:
        assert _is_smooth(connection)


@pytest.mark.parametrize("word", ["median", "clipped_mean", "auto", "''"])
def test_another_one_is_refused_with_a_way_out(live: LiveProxy, analyst: str, word: str) -> None:
    with live.connect(analyst=analyst) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            connection.execute(f"SET dp.mechanism = {word}".encode())
        hint = caught.value.diag.message_hint or ""
        found = re.match(r"SET dp\.mechanism = \w+", hint)
        assert found is not None, hint
        connection.execute(found[0].encode())
        assert _is_smooth(connection)


def test_one_that_slipped_in_is_refused_when_it_matters(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SELECT set_config('dp.mechanism', 'ratio', false)")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(_TEXT.encode())
    assert live.spent(analyst)[0] == 0


def test_the_member_over_http(listeners: BothListeners, analyst: str) -> None:
    def mechanisms(**more: Any) -> set[str]:
        told = listeners.query(_TEXT, analyst=analyst, path="/v1/explain", **more)
        assert told.status_code == 200, told.text
        return {entry["mechanism"].split(",")[0] for entry in told.json()["aggregates"]}

    assert mechanisms(mechanism="smooth_median") == {"smoothed median"}
    assert mechanisms() == mechanisms(mechanism="policy") != {"smoothed median"}
    refused = listeners.query(_TEXT, analyst=analyst, mechanism="clipped_mean")
    assert refused.status_code == 400
    inside = re.search(r'over HTTP "mechanism": "(\w+)"', refused.json()["hint"])
    assert inside is not None
    assert mechanisms(mechanism=inside[1]) == {"smoothed median"}
    for value in (1, True, ["best"]):
        assert listeners.query(_TEXT, analyst=analyst, mechanism=value).status_code == 400
