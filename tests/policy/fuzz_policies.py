"""Made-up policies against the reader: `python -m tests.policy.fuzz_policies`."""

from __future__ import annotations

import random  # noqa: TID251  the same inputs for the same seed
from pathlib import Path

from proxy.cli.accuracy_report import noise_proposals, policy_accuracy
from proxy.cli.policy_commands import variable_of
from proxy.planner.facts import PlanningContext, PublicContents
from proxy.policy.check import check, fitted
from proxy.policy.finding_names import FindingName
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import (
    POLICY,
    locate,
    read_policy,
)
from proxy.policy_file.yaml_positions import split_lines
from tests.fuzz_loop import fuzz, mutated
from tests.policy.catalogs import SHOP
from tests.policy.test_schema import keyed_shapes
from tests.samples import ALL_SAMPLES

_ROOT = Path(__file__).parents[2]
_GOLDEN = sorted((_ROOT / "tests" / "policy" / "golden").rglob("*.yaml"))
_SOURCES = [
    path.read_text(encoding="utf-8")
    for path in (*(sample.policy_file for sample in ALL_SAMPLES), *_GOLDEN)
]
_ENVIRONMENT = {
    **{variable_of(sample.name): "host=db" for sample in ALL_SAMPLES},
    **{"SHOP_HOST": "db", "SHOP_NAME": "s"},
}
_KEYS = [
    *(key for shape in keyed_shapes(POLICY) for key in shape.keys),
    *(f"{table.name}" for table in SHOP.tables.values()),
    *(column.name for table in SHOP.tables.values() for column in table.columns),
    *(name.name for name in FindingName),
]
_YAML = r"""
null ~ '' public row rows 1e-6 1e100 1e-100 -1 0 99999999999999999999 0.1 1/3 .5 5. +1 0x1F 1_000 .nan -.inf
2026-12-31 2026-02-30 0001-01-01 294276-12-31 24:00 ${SHOP_DSN} ${ } &a *a !x << --- ... | |2- > # "\U00110000"
"\x00" " ' ? [ ] { } , smooth_median best laplace gaussian polyplace day month none keep unique true no 10000
65537
"""
_WORDS = [
    *_KEYS,
    *_YAML.split(),
    *("9999-12-31 23:59:59.999999", "order_id -> shop.orders.customer_id", "!!str x", "%YAML 1.1"),
    *(
        "\t",
        "\x00",
        "\ud800",
        "\u2028",
        "\x85",
        "- ",
        ": ",
        "\n",
        "\n  ",
        "\n      ",
        "\r\n",
        "\ufeff",
    ),
    *("\u202e", "\ufb00", "\u00e9" * 40, "1" * 200),
]


def _made(rng: random.Random) -> str:
    match rng.randrange(10):
        case 0:
            return "".join(rng.choice(_WORDS) for _ in range(rng.randrange(200)))
        case 1:
            return _tree(rng, 0)
        case 2:
            return rng.choice(_WORDS) * rng.randrange(20_000 // 8)
        case 3:
            head = mutated(rng, rng.choice(_SOURCES), _WORDS, _SOURCES)
            return f"{head}\n{rng.choice(_KEYS)}: {_tree(rng, 1)}\n"
        case _:
            return mutated(rng, rng.choice(_SOURCES), _WORDS, _SOURCES)


def _tree(rng: random.Random, depth: int) -> str:
    match rng.randrange(4 if depth < 7 else 1):
        case 0:
            return rng.choice(_WORDS)
        case 1:
            return "[" + ", ".join(_tree(rng, depth + 1) for _ in range(rng.randrange(5))) + "]"
        case _:
            entries = (
                f"{rng.choice(_KEYS)}: {_tree(rng, depth + 1)}" for _ in range(rng.randrange(6))
            )
            return "{" + ", ".join(entries) + "}"


def _attempt(text: str) -> None:
    try:
        policy = read_policy(text, "policy.yaml", _ENVIRONMENT)
    except PolicyErrors as errors:
        assert errors.problems, "no problem is named"
        lines = split_lines(text)
        for problem in errors.problems:
            assert 1 <= problem.line <= len(lines), problem
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1, problem
        assert all(mark.isprintable() or mark == "\n" for mark in str(errors)), "unprintable"
        return
    problems = check(policy, SHOP)
    if problems:
        assert str(locate(problems, text, "policy.yaml"))
        return
    ready = fitted(policy, SHOP)
    policy_accuracy(ready, SHOP, PublicContents())
    noise_proposals(PlanningContext(ready, SHOP, {}))


if __name__ == "__main__":
    fuzz(_made, _attempt, repr)
