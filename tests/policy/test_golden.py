"""Golden policies: what is read from a good one, what is said about a bad one. `pytest --bless`."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proxy.catalog.catalog_model import IN_NORMAL_FORMS
from proxy.policy import check as checking
from proxy.policy.policy_model import Noise, Policy, ProtectedTable
from proxy.policy_file import policy_errors, yaml_positions
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from tests.policy.catalogs import SHOP

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    "SHOP_DSN": "postgresql://dp:geheim@db/shop",
    "SHOP_HOST": "db",
    "SHOP_NAME": "${SHOP_HOST}",
    "BROKEN_DSN": "host=db\x00geheim",
}
SECRET = "geheim"
_TODAY = 20_783  # 2026-11-26


def cases(kind: str) -> list[Path]:
    return sorted((GOLDEN / kind).glob("*.yaml"))


def complaint(path: Path) -> str:
    """What the owner of a bad policy reads."""
    text = policy_text(path)
    try:
        policy = read_policy(text, path.name, ENVIRONMENT)
    except PolicyErrors as errors:
        return str(errors)
    return str(locate(checking.check(policy, SHOP, day=_TODAY), text, path.name))


def described(policy: Policy) -> str:
    """Every number and name of a policy, a line each."""
    lines = [
        f"database {policy.database}",
        f"source {policy.source}",
        str(policy.privacy),
        f"total {policy.budgets.total}",
        f"default {policy.budgets.default}",
        *(f"analyst {name} {budget}" for name, budget in policy.budgets.analysts.items()),
        *(f"group {name} {budget}" for name, budget in policy.budgets.groups.items()),
        *(f"budget of {name} {budget}" for name, budget in policy.budgets.tables.items()),
    ]
    for name, table in policy.tables.items():
        if not isinstance(table, ProtectedTable):
            lines.append(f"{name} public{'' if table.columns is None else f' {table.columns}'}")
            lines.extend(f"  {key} {cut}" for key, cut in table.join_keys.items())
            continue
        contributions = (
            table.max_rows_per_unit,
            table.max_groups_per_unit,
            table.max_rows_per_group_per_unit,
        )
        lines.append(f"{name} {table.unit} {contributions}")
        lines.extend(f"  {key} {cut}" for key, cut in table.join_keys.items())
        lines.extend(f"  {column}" for column in table.columns.values())
    lines += [f"previews {policy.previews.value}", f"reuse {policy.reuse}"]
    lines.append(f"statements {policy.statements.value}, accounting {policy.accounting.value}")
    if policy.approve_above is not None:
        lines.append(f"agents approve above {policy.approve_above}")
    lines.extend(str(one) for one in policy.publish)
    lines.extend(f"accept {a.name.name} {a.where}: {a.reason}" for a in policy.accepted)
    return "\n".join(lines)


def compare(expected: Path, found: str, bless: bool) -> None:
    if bless:
        expected.write_text(found + "\n", encoding="utf-8")
    assert found + "\n" == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", cases("good"), ids=lambda path: path.stem)
def test_a_good_policy_is_read_exactly(path: Path, bless: bool) -> None:
    policy = read_policy(policy_text(path), path.name, ENVIRONMENT)
    assert checking.check(policy, SHOP, day=_TODAY) == []
    fitted = checking.fitted(policy, SHOP)
    assert checking.check(fitted, SHOP) == []
    assert checking.fitted(fitted, SHOP) == fitted
    compare(path.with_suffix(".txt"), described(fitted), bless)


@pytest.mark.parametrize("path", cases("bad"), ids=lambda path: path.stem)
def test_a_bad_policy_is_refused_with_every_place(path: Path, bless: bool) -> None:
    found = complaint(path)
    assert found, "nothing is wrong with this policy"
    assert SECRET not in found
    compare(path.with_suffix(".txt"), found, bless)


@functools.cache
def problems_of(path: Path) -> PolicyErrors:
    text = policy_text(path)
    try:
        policy = read_policy(text, path.name, ENVIRONMENT)
    except PolicyErrors as errors:
        return errors
    return locate(checking.check(policy, SHOP), text, path.name)


def test_there_are_many_bad_policies() -> None:
    assert len(cases("bad")) >= 95
    assert sum(len(problems_of(path).problems) for path in cases("bad")) >= 340


@pytest.mark.parametrize("path", cases("bad"), ids=lambda path: path.stem)
def test_each_message_has_a_place_and_a_hint(path: Path) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for problem in problems_of(path).problems:
        assert problem.hint, problem
        assert 1 <= problem.line <= len(lines) + 1 and problem.column >= 1


@pytest.mark.parametrize(
    "path",
    [path for path in cases("bad") if path.stem.startswith("one_")],
    ids=lambda path: path.stem,
)
def test_a_hint_that_is_followed_mends_the_file(path: Path) -> None:
    """Beside a file with one mistake stands what its hint makes of it, and that is a good policy."""
    assert len(problems_of(path).problems) == 1
    text = policy_text(path.with_suffix(".mended"))
    policy = read_policy(text, path.name, ENVIRONMENT)
    assert checking.check(policy, SHOP) == []


def test_every_golden_file_has_its_case() -> None:
    for kind in ("good", "bad"):
        texts = {path.stem for path in (GOLDEN / kind).glob("*.txt")}
        assert texts == {path.stem for path in cases(kind)}


def complaining_calls(source: Path) -> Iterator[tuple[str, int, int]]:
    """Every call in a file that reports a problem: file name, first line, last line."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Attribute(attr="add" | "_add"):
                    yield source.name, node.lineno, node.end_lineno or node.lineno
                case ast.Name(id="YamlProblem"):
                    yield source.name, node.lineno, node.end_lineno or node.lineno


def test_every_refusal_has_a_golden_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that no golden file provokes is a refusal that nobody has seen."""
    seen: set[tuple[str, int]] = set()

    def note_caller() -> None:
        frame = sys._getframe(2)
        seen.add((Path(frame.f_code.co_filename).name, frame.f_lineno))

    report, doubt, yaml_problem = (
        policy_errors.ProblemList.add,
        checking._Check._add,
        yaml_positions.YamlProblem,
    )

    def add(self: policy_errors.ProblemList, at: object, message: str, hint: str = "") -> None:
        note_caller()
        report(self, at, message, hint)  # type: ignore[arg-type]

    def check_add(self: checking._Check, *given: object, **named: object) -> None:
        note_caller()
        doubt(self, *given, **named)  # type: ignore[arg-type]

    def noted(*given: object) -> yaml_positions.YamlProblem:
        note_caller()
        return yaml_problem(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(policy_errors.ProblemList, "add", add)
    monkeypatch.setattr(checking._Check, "_add", check_add)
    monkeypatch.setattr(yaml_positions, "YamlProblem", noted)
    for path in cases("bad"):
        complaint(path)
    ascii_only = SHOP.__class__(SHOP.tables, "SQL_ASCII")
    smallest = read_policy(policy_text(GOLDEN / "good/smallest.yaml"), "", ENVIRONMENT)
    assert [str(found) for found in checking.check(smallest, ascii_only)] == [
        "database: the database's encoding is SQL_ASCII, not UTF8"
    ]
    (greek,) = checking.check(smallest, SHOP.__class__(SHOP.tables, IN_NORMAL_FORMS))
    assert "order of texts" in str(greek)
    assert "ENCODING" not in str(greek.hint), "it is UTF8 already"
    gaussian = replace(smallest.privacy, noise=Noise.GAUSSIAN, delta=Fraction(0))
    assert [str(found) for found in checking.check(replace(smallest, privacy=gaussian), SHOP)] == [
        "privacy.noise: gaussian noise needs a delta above 0"
    ]
    calls = {
        call
        for folder, pattern in (
            ("proxy/policy_file", "policy_*.py"),
            ("proxy/policy_file", "yaml_positions.py"),
            ("proxy/policy", "check.py"),
        )
        for source in (ROOT / folder).glob(pattern)
        for call in complaining_calls(source)
    }
    assert len(calls) > 80
    unseen = [
        f"{file}:{first}"
        for file, first, last in sorted(calls)
        if not any((file, line) in seen for line in range(first, last + 1))
    ]
    assert unseen == []
