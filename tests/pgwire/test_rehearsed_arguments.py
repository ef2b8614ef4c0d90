"""The rehearsal goes with the arguments where nothing but time differs by that."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from proxy.pgwire.calls import MadeOfNulls, ReadArguments, Rehearsal, StatementReader
from proxy.pgwire.expectations import ShadowReply
from proxy.pgwire.frames import FLUSH, Bind
from proxy.pgwire.rehearsed_arguments import rehearsed_arguments
from proxy.pgwire.session import Session

_PLAIN = Rehearsal("EXPLAIN (COSTS OFF) SELECT $1, $2")
_BIND = Bind(b"", b"s", (), (b"7",), ())
_MADE = MadeOfNulls("CREATE TABLE x AS SELECT", (), " WHERE false", if_not_exists=False, tag=None)


def _sent(rehearsal: Rehearsal | None, message: Bind) -> tuple[bytes, ShadowReply]:
    """What is sent at once, and what is waited for."""
    session = Session(cast(StatementReader, None), b"UTF8")
    reading = rehearsed_arguments(session, message, ReadArguments((23,), {}, rehearsal))
    waits = next(reading)
    assert isinstance(waits, ShadowReply)
    return b"".join(session.to_shadow), waits


def test_one_round_trip() -> None:
    sent, _ = _sent(_PLAIN, _BIND)
    assert sent.count(b"EXPLAIN") == 1
    assert sent.index(b"to_jsonb") < sent.index(b"EXPLAIN")
    assert sent.count(FLUSH) == 1
    assert sent.endswith(FLUSH)


@pytest.mark.parametrize(
    ("rehearsal", "message"),
    [
        (None, _BIND),
        (replace(_PLAIN, made=_MADE), _BIND),
        (replace(_PLAIN, same_kind=("DECLARE c CURSOR FOR SELECT",)), _BIND),
        (_PLAIN, replace(_BIND, portal=b"p")),
        (_PLAIN, replace(_BIND, values=(b"7" * 1_001,))),
    ],
)
def test_what_is_looked_at_first(rehearsal: Rehearsal | None, message: Bind) -> None:
    sent, _ = _sent(rehearsal, message)
    assert b"EXPLAIN" not in sent
    assert sent.count(FLUSH) == 1
