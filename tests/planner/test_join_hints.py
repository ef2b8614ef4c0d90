"""Which `join_keys` a refused join names: of the first equality whose both sides can be cut by them."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk

_ALWAYS = "Join on the privacy unit (a.unit = b.unit), or a public table on its key"
_ASK = "; or ask the data owner for `join_keys` in the policy: "
_WITH_PLACES = "FROM w.people p JOIN w.places q ON p.t = q.code JOIN w.events e ON"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("FROM w.people p JOIN w.events e ON p.i4 = e.i4", "i4 of w.people and i4 of w.events"),
        # Floats cannot be cut by; the next equality can.
        (
            "FROM w.people p JOIN w.events e ON p.f8 = e.f8 AND p.i4 = e.i4",
            "i4 of w.people and i4 of w.events",
        ),
        # A public table beside the protected one does not hold its rows.
        (f"{_WITH_PLACES} q.zone = e.t", None),
        (f"{_WITH_PLACES} q.zone = e.t AND p.i4 = e.i4", "i4 of w.people and i4 of w.events"),
        # The unit of lines is found through orders: no rows of it can be named.
        ("FROM (SELECT i4 FROM w.lines) p JOIN w.events e ON p.i4 = e.i4", None),
        ("FROM w.events e JOIN (SELECT i4 FROM w.lines) p ON p.i4 = e.i4", None),
        # No column of a table is behind these.
        (
            "FROM (SELECT i4 FROM w.people UNION ALL SELECT i4 FROM w.trips) p"
            " JOIN w.events e ON p.i4 = e.i4",
            None,
        ),
        ("FROM (SELECT i4 + 1 AS i4 FROM w.people) p JOIN w.events e ON p.i4 = e.i4", None),
    ],
)
def test_keys_that_would_allow_it(source: str, named: str | None) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT count(*) {source}")
    assert caught.value.hint == f"{_ALWAYS}{'' if named is None else _ASK + named}."
