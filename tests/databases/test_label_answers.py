"""The session that says what keys are for listed values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.label_evaluation import DOMAIN, LabelQuestion
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    ColumnRef,
    Constant,
    Expression,
    Operator,
    TextCall,
    TextFunction,
)
from proxy.shadow.constant_evaluation import ShadowLabels
from tests.postgres_majors import other_binaries

_TEXT = ColumnRef("p0", SqlType.TEXT, None, DOMAIN)
_NUMBER = ColumnRef("p0", SqlType.INT4, None, DOMAIN)
_TEN = Constant(Fraction(10), SqlType.INT4)


class Asked:
    """Counts the sessions, and what is asked in the last one."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server
        self.sessions: list[psycopg.Connection] = []
        self.labels = ShadowLabels(self._connect)

    def _connect(self) -> psycopg.Connection:
        self.sessions.append(psycopg.connect(self.server.dsn(), autocommit=True))
        return self.sessions[-1]

    def upper(self, *texts: str | None) -> object:
        return self.of(TextCall(TextFunction.UPPER, _TEXT, (), SqlType.TEXT), SqlType.TEXT, *texts)

    def of(self, expression: Expression, kind: SqlType, *texts: str | None) -> object:
        found = self.labels(LabelQuestion((expression,), (kind,), tuple((t,) for t in texts)))
        return None if found is None else [text for (text,) in found]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    yield from _started(None)


def _started(pg_bin: Path | None) -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="dpproxy-test-") as folder:
        found = EmbeddedPostgres(Path(folder), "synthetic", pg_bin=pg_bin, tcp=False, durable=False)
        found.start()
        try:
            yield found
        finally:
            found.stop()


@pytest.fixture
def asked(server: EmbeddedPostgres) -> Iterator[Asked]:
    found = Asked(server)
    yield found
    found.labels.close()


def test_answers_come_in_the_order_of_the_rows(asked: Asked) -> None:
    assert asked.upper("b", None, "a", "b", "é") == ["B", None, "A", "B", "É"]
    assert asked.of(
        Arithmetic(Operator.MULTIPLY, _NUMBER, _TEN, SqlType.INT4), SqlType.INT4, "-1"
    ) == ["-10"]


def test_a_session_is_opened_by_the_first_question_and_what_is_known_is_not_asked_again(
    asked: Asked,
) -> None:
    assert asked.sessions == []
    assert asked.upper("a", "b") == ["A", "B"]
    asked.sessions[0].close()
    assert asked.upper("b") == ["B"]
    assert len(asked.sessions) == 1
    assert asked.upper("b", "c") == ["B", "C"]  # the session has ended: another
    assert len(asked.sessions) == 2


def test_what_postgresql_raises_is_not_known_and_the_session_goes_on(asked: Asked) -> None:
    number = Cast(_TEXT, SqlType.INT4)
    assert asked.of(number, SqlType.TEXT, "1", "x") is None
    assert asked.of(number, SqlType.TEXT, "1", " -2", None) == ["1", "-2", None]
    day = Cast(_TEXT, SqlType.DATE)
    for text in ("today", "01/02/2020", "2020-02-30", "infinity"):
        assert asked.of(day, SqlType.TEXT, text) is None
    assert asked.of(day, SqlType.TEXT, "2020-02-03", "20200203") == ["2020-02-03", "2020-02-03"]
    assert len(asked.sessions) == 1


def test_nothing_is_written_and_time_is_bounded(asked: Asked) -> None:
    assert asked.upper("a") == ["A"]
    (session,) = asked.sessions
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.execute("CREATE TABLE public.t ()")
    session.execute("SET statement_timeout = '1ms'")
    with pytest.raises(Refusal) as caught:
        asked.upper(*(f"{n}{'x' * 1000}" for n in range(20_000)))
    assert caught.value.code is Code.TOO_COMPLEX
    session.execute("SET statement_timeout = '20s'")
    assert asked.upper("c") == ["C"]


def test_little_is_kept(asked: Asked) -> None:
    texts = [f"{n}{'x' * 10_000}" for n in range(400)]
    assert asked.upper(*texts) == [text.upper() for text in texts]
    asked.sessions[0].close()
    assert asked.upper(texts[0]) == [texts[0].upper()]
    assert len(asked.sessions) == 2


def test_without_a_server_it_is_refused(server: EmbeddedPostgres) -> None:
    def nowhere() -> psycopg.Connection:
        return psycopg.connect("host=/nowhere")

    with pytest.raises(Refusal) as caught:
        ShadowLabels(nowhere)(LabelQuestion((_TEXT,), (SqlType.TEXT,), (("a",),)))
    assert caught.value.code is Code.UNAVAILABLE


@pytest.mark.long
def test_a_server_that_knows_no_letters_is_not_asked_of_them() -> None:
    binaries = other_binaries()
    if binaries is None or binaries.major >= 17:
        pytest.skip("there is no PostgreSQL before 17 on this machine")
    for server in _started(binaries.folder):
        asked = Asked(server)
        assert asked.upper("a") == ["A"]
        assert asked.upper("é") is None
        asked.labels.close()
