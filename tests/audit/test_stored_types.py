"""Compiled SQL that brought a value to a domain, whose CHECK might raise, would be seen."""

from __future__ import annotations

import psycopg
import pytest

from tests.audit.exact_results import Auditor
from tests.stored_types import READING


def test_a_value_that_is_brought_to_a_domain_raises(auditor: Auditor, synthetic_dsn: str) -> None:
    assert auditor.bases
    with psycopg.connect(synthetic_dsn, options=f"-c {READING}") as connection:
        kinds = "SELECT pg_typeof(i4)::text, pg_typeof(e)::text FROM tame.orders LIMIT 1"
        assert connection.execute(kinds).fetchone() == ("own_integer", "own_mood")
        connection.execute("SELECT sum(i4), max(coalesce(i4, 1)) FROM tame.orders")
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("SELECT i4::public.own_integer FROM tame.people")
