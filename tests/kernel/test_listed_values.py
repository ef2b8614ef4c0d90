"""Listed keys are texts that PostgreSQL prints of their type, and no longer than its numbers."""

from __future__ import annotations

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.listed_values import check_listed
from proxy.kernel.refusals import NotPrivate

_LONG = "9" * 1_990


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SqlType.NUMERIC, _LONG),
        (SqlType.NUMERIC, f"-{_LONG}"),
        (SqlType.NUMERIC, "0.50"),
        (SqlType.INT8, "-9223372036854775808"),
        (SqlType.BOOL, "true"),
        (SqlType.DATE, "2024-02-29"),
    ],
)
def test_what_postgresql_prints_is_listed(kind: SqlType, text: str) -> None:
    check_listed(kind, [text, None])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SqlType.NUMERIC, "9" * 140_000),
        (SqlType.NUMERIC, "9" * 2_010),
        (SqlType.NUMERIC, "+1"),
        (SqlType.NUMERIC, "1e0"),
        (SqlType.NUMERIC, "01"),
        (SqlType.INT8, "9223372036854775808"),
        (SqlType.INT2, "01"),
        (SqlType.BOOL, "t"),
        (SqlType.DATE, "2023-02-29"),
    ],
)
def test_what_it_does_not_print_is_refused(kind: SqlType, text: str) -> None:
    with pytest.raises(NotPrivate):
        check_listed(kind, ["1" if kind.is_number else text, text])
