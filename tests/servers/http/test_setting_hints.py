"""What a hint says to set is answered where it is read: over the wire as SQL, over HTTP in the body."""

from __future__ import annotations

import re

import psycopg
import pytest

from proxy.base.session_settings import ANSWERED_SETTINGS
from tests.servers.http.both_listeners import BothListeners

_MEDIAN = "SELECT avg(age), max(age) FROM census.adult"
_KEYS = "SELECT occupation, count(*) FROM census.adult GROUP BY occupation"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("sql", "name", "value"),
    [
        (_MEDIAN, "delta", 0),
        (_KEYS, "delta", 0),
        (_MEDIAN, "delta", 1),
        (_MEDIAN, "epsilon", 0.001),
        (_MEDIAN, "epsilon", 100),
        (_MEDIAN, "epsilon", 0),
    ],
)
def test_what_a_hint_sets_is_answered(
    listeners: BothListeners, sql: str, name: str, value: float
) -> None:
    analyst = listeners.proxy.servers.new_analyst()
    refused = listeners.query(sql, database="census", analyst=analyst, **{name: value}).json()
    with listeners.proxy.connect("census", analyst=analyst) as connection:
        connection.execute("SELECT set_config(%s, %s, false)", (f"dp.{name}", str(value)))
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(sql.encode())
        hint = caught.value.diag.message_hint or ""
        assert refused["hint"] == hint
        command = re.match(rf"SET dp\.{name} = [0-9.]+|RESET dp\.{name}", hint)
        assert command is not None, hint
        connection.execute(command[0].encode())
        assert connection.execute(sql.encode()).fetchall()
    inside = re.search(rf'over HTTP (?:leave out )?"{name}"(?:: ([0-9.]+))?\)', hint)
    assert inside is not None, hint
    more = {name: float(inside[1])} if inside[1] else {}
    answered = listeners.query(sql, database="census", analyst=analyst, **more)
    assert answered.status_code == 200, answered.text
    assert listeners.proxy.spent(analyst)[0] == 2


def test_a_request_is_answered_whatever_settings_the_role_has(listeners: BothListeners) -> None:
    """It could not set them: so its session has those with which all is answered that can be."""
    analyst = listeners.proxy.servers.new_analyst()
    odd = {
        "TimeZone": "Asia/Tokyo",
        "standard_conforming_strings": "off",
        "transform_null_equals": "on",
        "array_nulls": "off",
        "extra_float_digits": "0",
    }
    assert odd.keys() == ANSWERED_SETTINGS.keys()
    sql = "SELECT count(*) FROM shop.orders WHERE created_at > '2021-01-01' AND total > $1::float8"
    shadow = listeners.proxy.assembly.databases["shop"].shadow
    with psycopg.connect(shadow.superuser_dsn, autocommit=True) as superuser:
        for name, value in odd.items():
            superuser.execute(f"ALTER ROLE {analyst} SET {name} = '{value}'".encode())
    with listeners.proxy.connect(analyst=analyst) as connection:
        for name, value in ANSWERED_SETTINGS.items():
            result = connection.pgconn.exec_params(sql.encode(), [b"1"])
            assert result.error_message, name  # each of them is needed
            connection.execute(f"SET {name} = '{value}'".encode())
        assert not connection.pgconn.exec_params(sql.encode(), [b"1"]).error_message
    answered = listeners.query(sql, 1, analyst=analyst)
    assert answered.status_code == 200, answered.text
    assert answered.json()["rows"]
