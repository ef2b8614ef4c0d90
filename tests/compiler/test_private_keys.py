"""Private keys of numbers and times: equal values have one text, which is read as the value; none raises."""

from __future__ import annotations

import json
from decimal import Decimal

import psycopg
import pytest

from proxy.base.errors import Refusal
from tests.compiler.conftest import HOSTILE
from tests.pipeline_world import walk
from tests.servers_fixture import servers

_TYPES = {
    **{"n": "numeric", "n2": "numeric(8,2)", "f4": "real", "f8": "double precision"},
    **{"ts": "timestamp", "tz": "timestamptz", "d": "date"},
}


def _groups(connection: psycopg.Connection, sql: str) -> list[tuple[str | None, int]]:
    pipeline = walk(sql)
    assert pipeline is not None
    ((query,),) = pipeline.queries
    return [
        (row[0], row[1])
        for row in connection.execute(
            query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        )
    ]


@pytest.mark.parametrize("column", _TYPES)
def test_equal_values_are_one_group(hostile: psycopg.Connection, column: str) -> None:
    found = dict(_groups(hostile, f"SELECT {column}, count(*) FROM people GROUP BY {column}"))
    texts = [text for text in found if text is not None]
    matched = hostile.execute(
        f"SELECT k, count(*) FROM unnest(%s::text[]) AS k JOIN w.people p"
        f" ON p.{column} = k::{_TYPES[column]} GROUP BY k".encode(),
        (texts,),
    ).fetchall()
    if column == "n":  # some have too many digits
        assert all(found[text] >= count for text, count in matched)
        assert {text for text, _ in matched} == set(texts)
    else:
        assert dict(matched) == {text: found[text] for text in texts}
    values = f"SELECT count(DISTINCT {column}) FROM w.people WHERE {_short(column)}"
    assert hostile.execute(values.encode()).fetchone() == (len(texts),)


@pytest.mark.parametrize("column", _TYPES)
def test_texts_are_values_in_every_session(hostile: psycopg.Connection, column: str) -> None:
    """As the rewritten statement reads them."""
    texts = [
        text for text, _ in _groups(hostile, f"SELECT {column}, count(*) FROM people GROUP BY 1")
    ]
    given = json.dumps([{"k1": text} for text in texts])
    read = f"SELECT k1 FROM pg_catalog.jsonb_to_recordset(%s::jsonb) AS r(k1 {_TYPES[column]})"
    with psycopg.connect(servers().protected.dsn(HOSTILE)) as other:
        other.execute("SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'SQL, DMY'")
        other.execute(f"CREATE TEMP TABLE read AS {read}".encode(), (given,))
        other.execute("SET TimeZone = 'UTC'; SET DateStyle = ISO; SET extra_float_digits = 1")
        back = [text for (text,) in other.execute("SELECT k1::text FROM read")]
    scaled = {
        t if t is None or column != "n2" or t == "NaN" else f"{Decimal(t):.2f}" for t in texts
    }
    assert set(back) == scaled


def _short(column: str) -> str:
    """Numbers of more digits than count are others: 0, infinite."""
    return (
        "abs(n) >= 'Infinity' OR abs(n) < 1e500 AND abs(n) > 1e-500 OR n = 0"
        if column == "n"
        else "true"
    )


def test_numbers_of_too_many_digits(hostile: psycopg.Connection) -> None:
    found = dict(_groups(hostile, "SELECT n, count(*) FROM people GROUP BY n"))
    assert {"NaN", "Infinity", "-Infinity", "0", "1"} <= set(found)
    assert max(len(text) for text in found if text is not None) < 1_024
    (count,) = hostile.execute(
        "SELECT count(*) FROM w.people WHERE n >= 1e500 AND n < 'NaN'"
    ).fetchall()[0]
    assert found["Infinity"] == count > 1
    (count,) = hostile.execute("SELECT count(*) FROM w.people WHERE abs(n) < 1e-500").fetchall()[0]
    assert found["0"] == count > 2


@pytest.mark.parametrize(
    "key", ["n2 * 2", "n / 3", "coalesce(ts, d)", "round(f8::numeric, 1)", "i4::float8"]
)
def test_computed_keys_do_not_raise(hostile: psycopg.Connection, key: str) -> None:
    found = _groups(hostile, f"SELECT {key} AS k, count(*) FROM people GROUP BY 1")
    texts = [text for text, _ in found]
    assert len(set(texts)) == len(texts) > 1


@pytest.mark.parametrize(
    "key", ["f8 * 2", "f4 + f8", "coalesce(f8, i4)", "u.f", "1.5::float8 * i4", "i8::float8"]
)
def test_computed_floats_are_refused(key: str) -> None:
    source = "(SELECT f8 * 2 AS f FROM people) u" if key == "u.f" else "people"
    with pytest.raises(Refusal, match="its equal values can print differently"):
        walk(f"SELECT {key} AS k, count(*) FROM {source} GROUP BY 1")
