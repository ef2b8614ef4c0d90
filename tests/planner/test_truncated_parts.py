"""How many joined rows change with a part: cuts by several columns, LEFT JOIN, joins of joins."""

from __future__ import annotations

import pytest

from proxy.planner.truncated_parts import KeyTruncation, TruncatedPart, changed_rows, joined_parts


def _part(name: str, *cuts: KeyTruncation, rows: int = 1) -> TruncatedPart:
    return TruncatedPart(alias=name, rows=rows, names=(), truncations=cuts)


def _excess(column: str, most: int) -> KeyTruncation:
    return KeyTruncation(column=column, most=most, changed=2)


_UNIQUE = KeyTruncation(column="k", most=1, changed=1)


@pytest.mark.parametrize(
    "right, of_right",
    [
        (
            _part("r", _excess("k", 2)),
            6,
        ),  # one in the place of another: 2 * T_l, as in an inner join
        (_part("r", _UNIQUE), 6),  # alone: a pair and a row without partner
        (_part("r"), 6),
        # The place that it takes is among rows of another column, with other values of this one.
        (_part("r", _excess("k", 2), _excess("m", 2)), 24),
        (_part("r", _excess("m", 2)), 12),
        (_part("r", _excess("k", 2), rows=5), 30),
    ],
)
def test_a_part_on_the_right_of_a_left_join(right: TruncatedPart, of_right: int) -> None:
    found = joined_parts(
        [_part("l", _excess("k", 3))], [right], (3, 2), (0, 0), outer_on="k", is_alone=True
    )
    assert [part.joined for part in found] == [4, of_right]
    assert changed_rows(found) == 4 + of_right


def test_a_third_table_multiplies_what_rows_reach() -> None:
    two = joined_parts(
        [_part("a", _excess("k", 3), _excess("m", 2))], [_part("b", _excess("k", 2))], (3, 2), (0, 0),
        outer_on=None, is_alone=True,
    )  # fmt: skip
    three = joined_parts(
        two, [_part("c", _excess("m", 5))], (2, 5), (0, 0), outer_on=None, is_alone=True
    )
    assert [part.factor for part in three] == [2 * 5, 3 * 5, 2 * 2]
    assert [part.joined for part in three] == [4 * 10, 2 * 15, 2 * 4]
    other = joined_parts(
        [_part("c", _excess("m", 5))], two, (5, 2), (0, 0), outer_on="m", is_alone=False
    )  # both tables count twice, as either can take a row without partner away
    assert [part.joined for part in other] == [2 * 4, 2 * 4 * 10, 2 * 2 * 15]
