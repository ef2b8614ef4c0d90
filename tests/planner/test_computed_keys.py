"""The values of a computed key are the texts that PostgreSQL prints for numeric."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.planner.public_keys import constant_text
from proxy.query.ir.expressions import Case, Comparison, Constant, Is
from tests.pipeline_world import POLICIES, walk


@pytest.mark.parametrize(
    "key, some",
    [
        ("floor(i2 / 2.0) * (0 - 2)", ("6", "0", "-2", "-10")),
        ("(0 - 1) * floor(n2)", ("0",)),
        ("(0 - 1.50) * floor(i2)", ("7.5", "0.0", "-1.5")),
        ("floor(i2 / 2.0) * 0", ("0",)),
        ("floor(f8) * (0 - 2)", ("0", "-2")),
    ],
)
def test_zero_has_no_sign(key: str, some: tuple[str, ...]) -> None:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    values = pipeline.plan.blocks[0].keys[0].values
    assert values is not None
    assert set(some) <= set(values)
    assert {"-0", "-0.0", "-0.00"}.isdisjoint(values)


_MAPPED = (
    ("upper(t)", {"x": "X", "y": "Y", "z": "Z", None: None}),
    ("left(upper(t), -1)", {"x": "", "y": "", "z": "", None: None}),
    ("right(t, 1)", {"x": "x", "y": "y", "z": "z", None: None}),
    ("substr(t, 0, 2)", {"x": "x", "y": "y", "z": "z", None: None}),
    ("coalesce(upper(t), 'other')", {"x": "X", "y": "Y", "z": "Z", None: "other"}),
    ("coalesce(nullif(t, 'x'), 'y')", {"x": "y", "y": "y", "z": "z", None: "y"}),
    ("length(t)", {"x": "1", "y": "1", "z": "1", None: None}),
    ("strpos(t, 'y')", {"x": "0", "y": "1", "z": "0", None: None}),
)


@pytest.mark.parametrize(("key", "becomes"), _MAPPED)
def test_a_function_of_listed_texts_is_a_comparison_with_them(
    key: str, becomes: dict[str | None, str | None]
) -> None:
    """No function is evaluated of a row, and what is not listed gets a text that is no key."""
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    (planned,) = pipeline.plan.blocks[0].keys
    assert planned.values is not None and isinstance(planned.expression, Case)
    assert set(planned.values) == set(becomes.values())
    compared: dict[str | None, str | None] = {}
    for test, result in planned.expression.whens:
        assert isinstance(result, Constant) and isinstance(test, Is | Comparison)
        of = test.right if isinstance(test, Comparison) else Constant(None, None)
        assert isinstance(of, Constant) and isinstance(of.value, str | None)
        compared[of.value] = constant_text(result)
    assert compared == becomes
    other = planned.expression.otherwise
    assert isinstance(other, Constant) and constant_text(other) not in planned.values


@pytest.mark.parametrize(
    "key", ["upper(c)", "upper(s) = 'X'", "starts_with(t, 'x')", "greatest(t, 'x')"]
)
def test_what_is_not_computed_here_is_left_to_the_database(key: str) -> None:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    expression = pipeline.plan.blocks[0].keys[0].expression
    assert not isinstance(expression, Case)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        # Not every year of the range has every month.
        ("extract(year FROM d) || '-' || extract(month FROM d)", {"2019-11", "2019-12", "2020-1"}),
        ("extract(year FROM d) * 100 + extract(month FROM d)", {"201911", "201912", "202001"}),
        ("to_char(d, 'YYYY')::int", {"2019", "2020"}),
        (
            "concat_ws('/', extract(month FROM d), extract(year FROM d))",
            {"11/2019", "12/2019", "1/2020"},
        ),
        (
            "CASE WHEN extract(month FROM d) > 11 THEN 'last' ELSE 'q' || extract(quarter FROM d) END",
            {"last", "q4", "q1"},
        ),
    ],
)
def test_a_key_of_several_parts_has_the_values_of_their_combinations(
    key: str, values: set[str]
) -> None:
    where = "d >= '2019-11-01' AND d <= '2020-01-01'"
    pipeline = walk(f"SELECT {key}, count(*) FROM people WHERE {where} GROUP BY 1")
    assert pipeline is not None
    assert set(pipeline.plan.blocks[0].keys[0].values or ()) == values


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (
            "CASE WHEN date_trunc('month', ts) = '2019-01-01' THEN 'a' || t ELSE t END",
            {"x", "y", "z", "ax", "ay", "az", None},
        ),
        ("coalesce(c, 'x') || t", {"ax", "ay", "az", "bbx", "bby", "bbz", "xx", "xy", "xz", None}),
        ("initcap(t || '_a')", {"X_A", "Y_A", "Z_A", None}),
        ("upper(t || '\u00e9')", {"X\u00c9", "Y\u00c9", "Z\u00c9", None}),
    ],
)
def test_times_blanks_words_and_letters_are_as_postgresql_has_them(
    key: str, values: set[str | None]
) -> None:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    assert set(pipeline.plan.blocks[0].keys[0].values or ()) == values


def test_keys_of_the_same_parts_are_together_what_one_row_can_have() -> None:
    pipeline = walk(
        "SELECT floor(i4 / 10) * 10, floor(i4 / 10) * 10 || '+', CAST(extract(year FROM d) || '0101' AS date),"
        " extract(year FROM d) || '!', count(*) FROM people WHERE d > '2018-05-01' GROUP BY 1, 2, 3, 4"
    )
    assert pipeline is not None
    groups = pipeline.plan.blocks[0].groups()
    assert groups == 11 * 3


@pytest.mark.parametrize(
    "key",
    [
        "(i4 / 3.0) || t",  # digits of a quotient
        "greatest(t, 'y') || t",  # the order of a collation
    ],
)
def test_what_is_not_known_of_parts_is_no_public_key(key: str) -> None:
    try:
        pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    except Refusal:
        return
    assert pipeline is not None
    assert pipeline.plan.blocks[0].keys[0].values is None


@pytest.mark.parametrize("items", ["SELECT p.code, p.zone, count(*)", "SELECT p.code, count(*)"])
def test_a_column_beside_the_key_of_its_public_table_is_a_further_key(items: str) -> None:
    """As if it were written among the keys, and nothing of epsilon goes to it."""
    source = "FROM people o JOIN places p ON p.code = o.t"
    found = [
        walk(f"{items} {source} GROUP BY p.code{more} ORDER BY p.zone") for more in ("", ", p.zone")
    ]
    plans = [pipeline.plan.blocks[0] for pipeline in found if pipeline is not None]
    assert plans[0] == plans[1] and len(plans[0].releases) == 1


@pytest.mark.parametrize(
    "order",
    [
        "p.zone",
        "p.zone DESC NULLS LAST",
        "upper(p.zone)",
        "1",
        "2",
        "CASE p.zone WHEN 'x' THEN 1 END",
    ],
)
def test_what_is_sorted_by_a_public_key_is_not_measured(order: str) -> None:
    """All of epsilon goes to the count."""
    text = "SELECT p.zone, count(*) FROM people o JOIN places p ON p.code = o.t GROUP BY p.zone"
    pipeline, plain = walk(f"{text} ORDER BY {order} LIMIT 3"), walk(text)
    assert pipeline is not None and plain is not None
    assert pipeline.plan.blocks[0].releases == plain.plan.blocks[0].releases


@pytest.mark.parametrize("column", ["d", "ts", "tz"])
def test_a_time_as_a_key_is_to_be_truncated(column: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT {column}, count(*) FROM visits GROUP BY 1", POLICIES["chosen"])
    key = f"date_trunc('day', {column})"
    assert caught.value.hint.startswith(f"Group by {key}")
    assert walk(f"SELECT {key}, count(*) FROM visits GROUP BY 1", POLICIES["chosen"]) is not None


@pytest.mark.parametrize("where", ["i4 IN (1, 2)", "i4 = 1", "c LIKE '1' OR i4 = 1"])
@pytest.mark.parametrize("outer", ["sum(one)", "one, count(*)", "avg(one + i4)"])
def test_a_constant_column_beside_itself_in_a_condition(outer: str, where: str) -> None:
    """As tools write `1 AS "Number of Records"`: once the planner put a column into the list."""
    grouped = " GROUP BY one" if outer.startswith("one,") else ""
    inner = f"SELECT 1 AS one, i4 FROM people WHERE {where}"
    assert walk(f"SELECT {outer} FROM ({inner}) q{grouped}") is not None
