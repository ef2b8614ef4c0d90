"""What conditions of a table say of its columns: through casts that keep values as they are, and no others."""

from __future__ import annotations

import pytest

from proxy.query.checked_columns import CheckedColumn, checked_columns


@pytest.mark.parametrize(
    ("condition", "stated"),
    [
        ("((x)::text = 'F'::text)", CheckedColumn(values=("F",))),
        (
            "((x)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
            CheckedColumn(values=("a", "b")),
        ),
        ("((x)::numeric >= 0.5)", CheckedColumn(low="0.5")),
    ],
)
def test_casts_that_keep_values(condition: str, stated: CheckedColumn) -> None:
    assert checked_columns((condition,)) == {"x": stated}


@pytest.mark.parametrize(
    "condition",
    [
        "((x)::character varying(1) = 'F')",  # F, and Foo
        "((x)::numeric(3,0) <= 5)",  # 5.4
        "((x)::date = '2024-01-01')",  # any time of that day
        "((x)::integer <= 5)",
    ],
)
def test_casts_that_cut(condition: str) -> None:
    assert checked_columns((condition,)) == {}
