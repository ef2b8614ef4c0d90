"""`dpproxy policy diff`: who gains or loses what, and what becomes of errors, budgets and cached answers."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.policy.caching_changes import tables_not_cached
from proxy.policy.change_words import Direction, ForPeople, Topic, protection_words
from proxy.policy.check import check, fitted
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy, Reuse
from proxy.policy.publication import Continual, DaySums, Publication
from proxy.policy_file.policy_yaml import read_policy
from proxy.reuse.block_question import ReliedOn
from tests.policy.catalogs import SHOP

_OLD = """\
dpproxy: 1
database: shop
source: ${SHOP_DSN}
privacy: {epsilon: 1, delta: 1e-6, max_epsilon: 2}
reuse: 24h
tables:
  shop.customers:
    unit: {customer: id}
    columns: {state: {values: [CA, TX]}, loyal: {}}
  shop.orders:
    unit: {customer: customer_id}
    max_rows_per_unit: 4
    columns: {total: {bounds: [0, 500]}, quantity: {bounds: [1, 20]}}
  shop.visits: {unit: row}
  shop.products: public
budgets:
  total: {epsilon: 100, delta: 1e-3}
  default: {epsilon: 10, delta: 1e-4, per: month}
  analysts: {alice: {epsilon: 30, delta: 1e-4, per: month}}
"""


def _policy(*edits: tuple[str, str]) -> Policy:
    text = _OLD
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    policy = read_policy(text, "shop.yaml", {"SHOP_DSN": "-"})
    assert check(policy, SHOP) == []
    return policy


def _told(*edits: tuple[str, str]) -> list[str]:
    return [
        f"{change.direction.value} {change.where}: {change.what}"
        for change in policy_changes(_policy(), _policy(*edits))
    ]


def test_nothing_changes() -> None:
    assert _told() == []
    assert _told(("dpproxy: 1\n", "# another text\ndpproxy: 1\n")) == []


_STALE = "cached answers are not found any more, and are asked and paid anew"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            ("  shop.visits: {unit: row}\n", ""),
            ["loses tables.shop.visits: is not there any more (protected, by each row)"],
        ),
        (
            ("  shop.visits: {unit: row}\n", "  shop.visits: public\n"),
            [
                "exposes tables.shop.visits: every row is shown to every analyst, for nothing;"
                " it was protected, by each row",
                "loses tables: no cached answer is found any more:"
                " answers rely on what public tables there are",
            ],
        ),
        (
            ("loyal: {}", "loyal: {}, last_seen: {}"),
            [
                "gains tables.shop.customers.columns.last_seen: can be used",
                f"loses tables.shop.customers: {_STALE}",
            ],
        ),
        (
            ("values: [CA, TX]", "values: [CA, NY]"),
            [
                "gains tables.shop.customers.columns.state.values: the keys NY",
                "loses tables.shop.customers.columns.state.values: the keys TX",
                f"loses tables.shop.customers: {_STALE}",
            ],
        ),
        (
            ("total: {bounds: [0, 500]}", "total: {}"),
            [
                "loses tables.shop.orders.columns.total: SUM, AVG, MIN and MAX",
                f"loses tables.shop.orders: {_STALE}",
            ],
        ),
        (
            ("bounds: [0, 500]", "bounds: [0, 250]"),
            [
                "changes tables.shop.orders.columns.total.bounds: [0, 500] -> [0, 250]:"
                " noise of AVG times 0.5, of SUM times 0.5; values beyond are cut that were not",
                f"loses tables.shop.orders: {_STALE}",
            ],
        ),
        (
            ("max_rows_per_unit: 4", "max_rows_per_unit: 8"),
            [
                "changes tables.shop.orders.max_rows_per_unit: 4 -> 8: noise of COUNT and SUM times 2;"
                " more rows of a unit count",
                f"loses tables.shop.orders: {_STALE}",
            ],
        ),
        (
            ("shop.visits: {unit: row}", "shop.visits: {unit: {rows: 3}}"),
            [
                "changes tables.shop.visits.unit: protects any 3 rows instead of each row",
                f"loses tables.shop.visits: {_STALE}",
            ],
        ),
        (
            ("alice: {epsilon: 30,", "alice: {epsilon: 15,"),
            [
                "loses budgets.analysts.alice: epsilon 30 -> 15, delta 0.0001:"
                " 30 -> 15 statements at the policy's epsilon; what is spent counts"
            ],
        ),
        (
            ("  analysts: {alice: {epsilon: 30, delta: 1e-4, per: month}}\n", ""),
            [
                "loses budgets.analysts.alice: epsilon 30 -> 10, delta 0.0001 (by default now):"
                " 30 -> 10 statements at the policy's epsilon; what is spent counts"
            ],
        ),
        (
            ("total: {epsilon: 100,", "total: {epsilon: 200,"),
            [
                "gains budgets.total: epsilon 100 -> 200, delta 0.001:"
                " 100 -> 200 statements at the policy's epsilon"
            ],
        ),
        (
            (
                "  analysts:",
                "  groups: {staff: {epsilon: 20, delta: 0, per: week}}\n"
                "  tables: {shop.orders: {epsilon: 50, delta: 0}}\n  analysts:",
            ),
            [
                "loses budgets.groups.staff: epsilon 20, delta 0 each week:"
                " nothing bounded it by itself; what is spent counts",
                "loses budgets.tables.shop.orders: epsilon 50, delta 0:"
                " nothing bounded it by itself; what is spent counts",
            ],
        ),
        (
            ("reuse: 24h", "reuse: 24h\nagents: {approve_above: 0.5}"),
            [
                "changes agents.approve_above: never -> 0.5: above which epsilon a person approves a statement"
                " of an agent"
            ],
        ),
        (
            ("reuse: 24h", "reuse: 24h\naccounting: zcdp\nstatements: encrypted"),
            [
                "gains accounting: basic -> zcdp: a statement fits where the epsilons do"
                " or where rho does",
                "changes statements: hashed -> encrypted: what receipts keep of statements",
            ],
        ),
        (
            ("reuse: 24h", "reuse: 7d"),
            [
                "loses reuse: 24h -> 7d: slots begin otherwise,"
                " and no cached answer of before is found"
            ],
        ),
        (
            ("reuse: 24h", "reuse: {for: 1d, from: '04:30', lift: off}"),
            [
                "loses reuse: 24h -> 24h from 04:30: slots begin otherwise,"
                " and no cached answer of before is found",
                "loses reuse.lift: on -> off: each slice of a table is a question of its own,"
                " paid by itself",
            ],
        ),
        (
            ("reuse: 24h", "reuse: {for: 24h, now: 15min}"),
            [
                "changes reuse.now: by window -> 15min: to this the present is rounded down,"
                " so that questions about it stay the same"
            ],
        ),
        (
            ("reuse: 24h", "reuse: none"),
            ["loses reuse: nothing is cached any more: each statement is drawn and paid anew"],
        ),
    ],
)
def test_each_change_is_told(edit: tuple[str, str], expected: list[str]) -> None:
    assert [
        one.replace("1e-4", "0.0001").replace("1e-3", "0.001") for one in _told(edit)
    ] == expected


def test_what_is_cached_from_now_on() -> None:
    bare = _policy(("reuse: 24h", "reuse: none"))
    (found,) = policy_changes(bare, _policy(("reuse: 24h", "reuse: 90min")))
    assert found.direction is Direction.GAINS
    assert found.what == "a question is drawn once in each 90min, and paid once"
    unlifted, lifted = _policy(("reuse: 24h", "reuse: {for: 24h, lift: off}")), _policy()
    (found,) = policy_changes(unlifted, lifted)
    assert (found.direction, found.where) == (Direction.GAINS, "reuse.lift")


_PUBLISHED = Publication(
    name="a", sql="SELECT 1", seconds=86_400, offset=0, loss=Loss(Fraction(1), Fraction(0))
)


@pytest.mark.parametrize(
    "part",
    [
        {"sql": "SELECT 2"},
        {"seconds": 3600},
        {"offset": 60},
        {"loss": Loss(Fraction(2), Fraction(0))},
        {"continual": Continual(days=365, most_days=7)},
        {"ranges": DaySums(most_days=7)},
    ],
)
def test_no_part_of_a_published_table_changes_unsaid(part: dict[str, Any]) -> None:
    old = replace(_policy(), publish=(_PUBLISHED,))
    (found,) = policy_changes(old, replace(old, publish=(replace(_PUBLISHED, **part),)))
    assert (found.topic, found.where) == (Topic.PUBLISHED, "publish.a")


def test_published_tables_come_and_go() -> None:
    old, new = _policy(), replace(_policy(), publish=(_PUBLISHED,))
    assert [one.direction for one in policy_changes(old, new)] == [Direction.GAINS]
    assert [one.direction for one in policy_changes(new, old)] == [Direction.LOSES]
    assert policy_changes(new, new) == []


@pytest.mark.parametrize("part", [part.name for part in fields(Reuse)])
def test_no_part_of_reuse_changes_unsaid(part: str) -> None:
    old = _policy()
    assert old.reuse is not None
    value = getattr(old.reuse, part)
    changed: Any = not value if isinstance(value, bool) else (value or 0) + 3_600
    new = replace(old, reuse=replace(old.reuse, **{part: changed}))
    (found,) = policy_changes(old, new)
    assert found.where.startswith("reuse")


def test_limits_of_groups_and_tables() -> None:
    few, many, none = (
        _policy(("  analysts:", f"  tables: {{{line}}}\n  analysts:"))
        for line in (
            "shop.orders: {epsilon: 20, delta: 0}",
            "shop.orders: {epsilon: 50, delta: 0}",
            "",
        )
    )
    (found,) = policy_changes(few, many)
    assert (found.direction, found.what) == (Direction.GAINS, "epsilon 20 -> 50, delta 0")
    (found,) = policy_changes(many, few)
    assert found.direction is Direction.LOSES
    (found,) = policy_changes(few, none)
    assert (found.direction, found.where) == (Direction.GAINS, "budgets.tables.shop.orders")


def test_what_a_statement_costs() -> None:
    found = "\n".join(_told(("epsilon: 1,", "epsilon: 0.5,")))
    assert "privacy.epsilon: 1 -> 0.5: errors times 2, and a statement costs times 0.5" in found
    assert "gains budgets.total: 100 -> 200 statements" in found
    assert "gains budgets.analysts.alice: 30 -> 60 statements" in found
    assert (
        "changes privacy: cached answers are found at the terms they were made with only" in found
    )


@pytest.mark.parametrize(
    "edit",
    [
        ("bounds: [0, 500]", "bounds: [0, 250]"),
        ("values: [CA, TX]", "values: [CA]"),
        ("loyal: {}", "loyal: {}, last_seen: {}"),
        ("max_rows_per_unit: 4", "max_rows_per_unit: 5"),
        ("shop.visits: {unit: row}", "shop.visits: {unit: {rows: 2}}"),
        ("epsilon: 100,", "epsilon: 200,"),
        ("max_epsilon: 2", "max_epsilon: 3"),
        ("dpproxy: 1", "dpproxy: 1.0"),
    ],
)
def test_it_names_the_tables_whose_cached_answers_rely_on_it(edit: tuple[str, str]) -> None:
    """As the digests say by which answers are found (proxy/reuse/block_question.py)."""
    old, new = (fitted(policy, SHOP) for policy in (_policy(), _policy(edit)))
    digests = [ReliedOn(PlanningContext(one, SHOP, {}))._tables for one in (old, new)]
    differing = {name for name in digests[0] if digests[0][name] != digests[1].get(name)}
    assert set(tables_not_cached(old, new)) == differing


def test_another_policy_altogether() -> None:
    """Whatever two policies are, each table, column and budget that differs is told."""
    old = _policy()
    bare = replace(
        old, tables={TableName("shop", "products"): old.tables[TableName("shop", "products")]}
    )
    assert len(policy_changes(old, bare)) >= 3
    assert len(policy_changes(bare, old)) >= 3


_SAID = [  # what is weaker for people; the other way round it is stronger
    (("epsilon: 1,", "epsilon: 2,"), "privacy.epsilon"),
    (("delta: 1e-6", "delta: 1e-5"), "privacy.delta"),
    (("max_epsilon: 2", "max_epsilon: 3"), "privacy.max_epsilon"),
    (("total: {epsilon: 100,", "total: {epsilon: 200,"), "budgets.total"),
    (("1e-4, per: month}\n  analysts", "1e-4, per: day}\n  analysts"), "budgets.default"),
    (("loyal: {}", "loyal: {}, last_seen: {}"), "tables.shop.customers.columns.last_seen"),
    (("  shop.visits: {unit: row}", "  shop.visits: public"), "tables.shop.visits"),
    (
        ("unit: {customer: customer_id}\n    max_rows_per_unit: 4\n", "unit: row\n"),
        "tables.shop.orders.unit",
    ),
    (
        (
            "reuse: 24h",
            "reuse: 24h\naccept: {PUBLIC_IS_NOT_NEEDED: {shop.products: in every shop window}}",
        ),
        "accept",
    ),
]


@pytest.mark.parametrize(("edit", "where"), _SAID)
def test_what_protects_people_less_says_so_both_ways(edit: tuple[str, str], where: str) -> None:
    old, new = _policy(), _policy(edit)
    weaker, stronger = (
        {one.where: one.people for one in policy_changes(*pair)}
        for pair in ((old, new), (new, old))
    )
    assert (weaker[where], stronger[where]) == (ForPeople.WEAKER, ForPeople.STRONGER)
    assert ForPeople.STRONGER not in weaker.values() and ForPeople.WEAKER not in stronger.values()


def test_it_is_summed_up_with_the_odds() -> None:
    old, new = (
        _policy(),
        _policy(("epsilon: 1,", "epsilon: 2,"), ("loyal: {}", "loyal: {}, last_seen: {}")),
    )
    first, before, after, most = protection_words(old, new, policy_changes(old, new))
    assert first == "Protection of people: weaker in 2 points"
    assert "at most come to 1 in 37" in before and "at most come to 1 in 14" in after
    assert "as before" in most
    assert protection_words(old, old, [])[0] == "Protection of people: the same"


def test_the_same_acceptance_in_other_words_is_no_weakening() -> None:
    one, other = (
        _policy(
            (
                "reuse: 24h",
                f"reuse: 24h\naccept: {{PUBLIC_IS_NOT_NEEDED: {{shop.products: {why}}}}}",
            )
        )
        for why in ("in every shop window", "printed in the catalogue")
    )
    assert {each.people for each in policy_changes(one, other)} == {ForPeople.SAME}


def test_a_bound_of_a_unit_is_told_before_and_after() -> None:
    old, new = (
        _policy(
            ("total: {bounds: [0, 500]}", f"total: {{bounds: [0, 500], per_unit: [0, {most}]}}")
        )
        for most in (800, 900)
    )
    found = {one.where: one for one in policy_changes(old, new)}
    told = found["tables.shop.orders.columns.total.per_unit"]
    assert (told.what, told.people) == ("[0, 800] -> [0, 900]", ForPeople.LOOK)


@pytest.mark.parametrize(
    "other",
    [
        "{customer: customer_id, per: quarter, of: placed_on}",
        "{buyer: customer_id, per: month, of: placed_on}",
    ],
)
def test_other_blocks_of_time_begin_with_nothing_spent(other: str) -> None:
    plain, months, others = (
        _policy(
            ("    unit: {customer: customer_id}\n", f"    unit: {unit}\n{more}"),
            (
                "{total: {",
                "{placed_on: {bounds: [2024-01-01, 2024-12-31]}, total: {",
            ),
        )
        for unit, more in (
            ("{customer: customer_id}", ""),
            ("{customer: customer_id, per: month, of: placed_on}", "    append_only: on\n"),
            (other, "    append_only: on\n"),
        )
    )
    for old, new, people in (
        (plain, months, ForPeople.WEAKER),
        (months, others, ForPeople.WEAKER),
        (others, months, ForPeople.WEAKER),
        (months, plain, ForPeople.LOOK),
    ):
        (told,) = (
            one for one in policy_changes(old, new) if one.where == "tables.shop.orders.unit"
        )
        assert told.people is people and "what was spent so far does not count" in told.what
