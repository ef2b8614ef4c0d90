"""Asks a PostgreSQL without rows what keys are for listed values (planner/label_evaluation.py).

One connection, so that all planning together takes one place of the shadow's; it only reads. Its settings are
fixed, and a zone stands in the expression: an answer is a function of the question, the key of the cache.
The statement reads no table, only parameters; its time and its rows are bounded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, ExitStack

import psycopg

from proxy.base.errors import Code, Refusal
from proxy.compiler.label_sql import label_sql
from proxy.planner.label_evaluation import LabelQuestion, Texts

_SETTINGS = (
    "SET default_transaction_read_only = on; SET search_path = pg_catalog; SET statement_timeout = '1s';"
    " SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET jit = off;"
    " SET extra_float_digits = 1; SET lc_time = 'C'"
)
_QUESTIONS = 256  # whose answers are kept
_CHARACTERS = 4_000_000  # of all rows and texts that are kept

Connecting = Callable[[], AbstractContextManager[psycopg.Connection]]


class ShadowLabels:
    """`planner.label_evaluation.EvaluatingKeys`. connecting: opens a session on an empty database, when
    something is asked for the first time, and again when it has ended."""

    def __init__(self, connecting: Connecting) -> None:
        self._connecting = connecting
        self._lock = threading.Lock()
        self._opened = ExitStack()
        self._connection: psycopg.Connection | None = None
        self._kept: OrderedDict[Hashable, dict[Texts, Texts]] = OrderedDict()
        self._characters: dict[Hashable, int] = {}
        self._knows_letters = True

    def close(self) -> None:
        """End the session, if there is one."""
        with self._lock:
            self._end()

    def __call__(self, question: LabelQuestion) -> tuple[Texts, ...] | None:
        """
        Refuses  TOO_COMPLEX: it takes too long; UNAVAILABLE: there is no session to be had
        """
        with self._lock:
            key = question.expressions, question.kinds
            kept = self._kept.setdefault(key, {})
            self._kept.move_to_end(key)
            new = [row for row in dict.fromkeys(question.rows) if row not in kept]
            if new:
                found = self._asked(question, new)
                if found is None:
                    return None
                kept.update(zip(new, found, strict=True))
                texts = (text for several in (*new, *found) for text in several if text)
                self._characters[key] = self._characters.get(key, 0) + sum(map(len, texts))
            answer = tuple(kept[row] for row in question.rows)
            self._forget()
            return answer

    def _forget(self) -> None:
        """What was asked for longest ago, until little enough is kept."""
        left = sum(self._characters.values())
        while len(self._kept) > _QUESTIONS or left > _CHARACTERS:
            key, _ = self._kept.popitem(last=False)
            left -= self._characters.pop(key, 0)

    def _asked(self, question: LabelQuestion, rows: list[Texts]) -> list[Texts] | None:
        sql, given = label_sql(question, rows)
        try:
            try:
                return self._run(sql, given)
            except psycopg.OperationalError as error:
                if isinstance(error, psycopg.errors.QueryCanceled):
                    raise
                self._end()  # the server was started again
                return self._run(sql, given)
        except psycopg.errors.QueryCanceled:
            raise Refusal(
                Code.TOO_COMPLEX,
                "which groups there are takes too long to compute",
                "Compute less in the keys, or take fewer of them.",
            ) from None
        except psycopg.DataError:
            return None
        except psycopg.OperationalError:
            raise Refusal(
                Code.UNAVAILABLE, "the shadow cannot say which groups there are", "Try again."
            ) from None

    def _run(self, sql: str, given: Mapping[str, object]) -> list[Texts] | None:
        session = self._session()
        if not self._knows_letters and _is_of_letters(sql, given):
            return None
        return session.execute(sql.encode(), given).fetchall()

    def _session(self) -> psycopg.Connection:
        if self._connection is None:
            session = self._opened.enter_context(self._connecting())
            session.execute(_SETTINGS)
            found = session.execute("SELECT lower(U&'\\00C9') = U&'\\00E9'").fetchone()
            self._knows_letters = found == (True,)
            self._connection = session
        return self._connection

    def _end(self) -> None:
        self._connection = None
        self._opened.close()


_BY_LETTERS = ("lower(", "upper(", "initcap(", " ILIKE ")


def _is_of_letters(sql: str, given: Mapping[str, object]) -> bool:
    """Whether it matters which letters beside ASCII's there are: to a server before 17 there are none."""
    return any(word in sql for word in _BY_LETTERS) and not str(given).isascii()
