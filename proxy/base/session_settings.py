"""The settings of an analyst's session that answers depend on, as both listeners read them."""

from __future__ import annotations

from collections.abc import Mapping

DP_SETTINGS: Mapping[str, str] = {  # what each does, for the reference (docs/reference/settings.md)
    "dp.epsilon": "What one statement may cost: 0.000001 to the policy's `privacy.max_epsilon`."
    " Default: `privacy.epsilon`.",
    "dp.delta": "The same of delta: 0, or 1e-100 to the policy's `privacy.delta`, which is the default.",
    "dp.notice": "`on`: a NOTICE with cost and error after each answer. Default: `privacy.notice`.",
    "dp.round": "`on`: numbers are rounded to a step of about a twentieth of their noise's standard deviation,"
    " where the size of the noise is public; the interval is wider by half a step. Default: the policy's"
    " `privacy.round`.",
    "dp.fresh": "`on`: answers that are cached or published are left aside; each statement is drawn anew and"
    " charged. Default: `off`.",
    "dp.accept_error": "1 to 100: an earlier or published answer serves, at no cost, if its standard error is"
    " at most so many times a fresh one's. Default: `1`.",
    "dp.published": "`off`: what is published answers no statement of the session. Default: the policy's"
    " `privacy.published`.",
    "dp.prepared": "`off`: no answer comes from a prepared copy of a table. Default: `on`.",
    "dp.trial": "`off`: a statement that computes with its answers is charged without a trial run with made-up"
    " answers. Default: `on`.",
    "dp.mechanism": "Of AVG, MIN and MAX: `smooth_median`, or another one that the policy has. Default:"
    " `policy`.",
    "dp.previews": "What a preview of protected rows (`SELECT * ... LIMIT 10`) gets: `empty`, no rows, or"
    " `refuse`. Default: the policy's `previews`.",
}
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
