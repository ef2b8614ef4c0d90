"""The settings of an analyst's session that answers depend on, as both listeners read them."""

from __future__ import annotations

DP_SETTINGS = (
    *("dp.epsilon", "dp.delta", "dp.notice", "dp.round"),
    *("dp.fresh", "dp.accept_error", "dp.published", "dp.trial", "dp.mechanism", "dp.previews"),
)
# Those by which PostgreSQL reads constants otherwise than the reader of this process does, with the values at
# which everything is answered that can be. An HTTP request, which cannot set them, has these.
ANSWERED_SETTINGS = {
    "TimeZone": "UTC",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "extra_float_digits": "1",
}
SESSION_SETTINGS = (*DP_SETTINGS, "statement_timeout", *ANSWERED_SETTINGS)
CLIENT_ENCODING = "client_encoding"  # the wire asks for it, too: in a pipeline it may have changed

BY_POLICY = "policy"  # dp.mechanism where a session has not SET it

_IN_A_REQUEST = {
    "dp.epsilon": "epsilon",
    "dp.delta": "delta",
    "dp.trial": "trial",
    "dp.mechanism": "mechanism",
    "dp.fresh": "fresh",
}
_JSON_WORDS = {"on": "true", "off": "false"}
_WORDS = ("dp.mechanism",)  # settings whose values are words


def how_to_set(name: str, value: str) -> str:
    """For hints, which are the same over both listeners: what is run, and what an HTTP request holds instead.

    >>> how_to_set("dp.epsilon", "0.5")
    'SET dp.epsilon = 0.5 (over HTTP "epsilon": 0.5)'
    >>> how_to_set("dp.trial", "off")
    'SET dp.trial = off (over HTTP "trial": false)'
    >>> how_to_set("dp.mechanism", "best")
    'SET dp.mechanism = best (over HTTP "mechanism": "best")'
    """
    in_json = f'"{value}"' if name in _WORDS else _JSON_WORDS.get(value, value)
    return f"SET {name} = {value}{_over_http(name, f': {in_json}')}"


def how_to_reset(name: str) -> str:
    """
    >>> how_to_reset("dp.epsilon")
    'RESET dp.epsilon (over HTTP leave out "epsilon")'
    """
    return f"RESET {name}{_over_http(name, '', 'leave out ')}"


def _over_http(name: str, value: str, before: str = "") -> str:
    """A request has no others: its session has them as they are answered (proxy/shadow/analyst_sessions.py)."""
    member = _IN_A_REQUEST.get(name)
    return "" if member is None else f' (over HTTP {before}"{member}"{value})'
