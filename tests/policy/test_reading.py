"""Whatever the text is, the reader gives a policy or PolicyErrors: never anything else, never a secret."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.base.limits import POLICY_BYTES
from proxy.policy.check import check
from proxy.policy.findings import Problem
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from proxy.policy_file.yaml_positions import compose, position_of, split_lines
from tests.machine_speed import allowed_work
from tests.policy.catalogs import SHOP

GOLDEN = Path(__file__).parent / "golden"
SOURCES = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.rglob("*.yaml"))]
ENVIRONMENT = {"SHOP_DSN": "host=db", "SHOP_HOST": "db", "SHOP_NAME": "shop"}

WORDS = (
    *("dpproxy", "privacy", "tables", "shop.orders", "unit", "row", "columns", "bounds", "values"),
    *("epsilon", "1e-6", "null", "~", "2026-12-31", "${SHOP_DSN}", "${", "->", "public", "1", ""),
    *("&a", "*a", "!!str x", "<<", "---", "...", "%YAML 1.1", "|", ">", "#", "\t", "\x00"),
    *("\ud800", "\u2028", "\x85", '"\\U00110000"', '"\\x00"', '"', "'", "?", "- ", ": "),
    *("[", "]", "{", "}", ","),
)
words = st.sampled_from(WORDS)
plain = st.text(max_size=8) | words
trees = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain, inner, max_size=4),
    max_leaves=12,
)


def flow(tree: object) -> str:
    match tree:
        case dict():
            return "{" + ", ".join(f"{key}: {flow(value)}" for key, value in tree.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, tree)) + "]"
        case _:
            return str(tree)


def outcome(text: str) -> Policy | PolicyErrors:
    try:
        policy = read_policy(text, "policy.yaml", ENVIRONMENT)
    except PolicyErrors as errors:
        assert errors.problems
        lines = split_lines(text)
        for problem in errors.problems:
            assert 1 <= problem.line <= len(lines)
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        assert all(mark.isprintable() or mark == "\n" for mark in str(errors))
        return errors
    found = check(policy, SHOP)
    assert str(locate(found, text, "policy.yaml")) or not found
    return policy


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    outcome(text)


@given(st.lists(words | st.sampled_from([" ", "\n", "\n  "]), max_size=40).map("".join))
def test_any_words(text: str) -> None:
    outcome(text)


@given(trees)
def test_any_tree(tree: object) -> None:
    outcome(flow(tree))


@settings(max_examples=100)
@given(st.sampled_from(SOURCES), st.data())
def test_any_golden_policy_with_a_part_replaced(source: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 12)))
    outcome(source[:start] + data.draw(words | trees.map(flow)) + source[end:])


@given(st.sampled_from(SOURCES), st.data())
def test_any_golden_policy_truncated_short(source: str, data: st.DataObject) -> None:
    outcome(source[: data.draw(st.integers(0, len(source)))])


@given(st.text(alphabet="ab\n\r\x85\u2028 ", max_size=30), st.data())
def test_positions_count_lines_as_yaml_does(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    at = position_of(text, index)
    lines = split_lines(text)
    assert 1 <= at.line <= len(lines)
    assert 1 <= at.column <= len(lines[at.line - 1]) + 1 or text[index - 1 : index + 1] == "\r\n"


@pytest.mark.every(8)
@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "? " * 100_000,
        "- " * 100_000,
        "{a: " * 50_000,
        "a: &a [*a, *a, *a]\n" * 10_000,
        "%YAML 1." + "9" * 10_000 + "\n---\n1",
        "a" * (POLICY_BYTES - 1),
        "\n" * (POLICY_BYTES - 1),
        "x: 1e" + "9" * 100_000,
        "dpproxy: " + "9" * 100_000,
        "{source" + " " * 500_000 + "x: [",
        "{source: ${A}" + " " * 500_000 + "x: [",
        "[" + "a://" * 200_000 + " {",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_text_ends_soon(text: str) -> None:
    before = time.process_time()
    assert isinstance(outcome(text), PolicyErrors)
    assert time.process_time() - before < allowed_work(
        10
    )  # 1 MiB is read in about 3 s; no run-away


def test_many_problems_are_reported_in_part() -> None:
    text = "\n".join(f"key{number}: 1" for number in range(1_000))
    errors = outcome(text)
    assert isinstance(errors, PolicyErrors)
    assert len(errors.problems) == 1_006  # and the six keys that are missing
    assert str(errors).count("unknown key") < 101
    assert str(errors).endswith("... and 906 more")


def test_a_file_has_at_most_a_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(b"#" * (POLICY_BYTES + 1))
    with pytest.raises(PolicyErrors, match="at most 1048576 bytes"):
        policy_text(path)
    with pytest.raises(PolicyErrors, match="at most 1048576 bytes"):
        read_policy("ä" * (POLICY_BYTES // 2) + "x", "policy.yaml", {})
    path.write_bytes(b"# fine\n\xff")
    with pytest.raises(PolicyErrors, match=r"policy\.yaml:2:1: not UTF-8"):
        policy_text(path)


@pytest.mark.parametrize(
    "line",
    [
        "source: postgresql://dp:geheim@db/shop: x",
        "  'source' : 'password=geheim",
        "{source: host=db password=geheim, x: [}",
        "PGPASSWORD: geheim: x",
        "sources: [postgresql://dp:geheim@db, ]]",
        "passwd : geheim: x",
        "source: ${SHOP_DSN} password=geheim: x",
        "source: ${geheim",
    ],
)
def test_no_password_is_displayed(line: str) -> None:
    errors = outcome(f"dpproxy: 1\n{line}\n")
    assert isinstance(errors, PolicyErrors)
    assert "geheim" not in str(errors)


def test_what_a_variable_holds_is_not_read_again() -> None:
    text = (GOLDEN / "good/every_key.yaml").read_text(encoding="utf-8")
    policy = read_policy(text, "p", {**ENVIRONMENT, "SHOP_NAME": "${SHOP_HOST}: [&x"})
    assert policy.source == "host=db dbname=${SHOP_HOST}: [&x options='-c a=$b'"


def test_a_problem_of_something_not_in_the_file_is_put_at_what_is_there() -> None:
    text = "tables:\n  shop.orders:\n    columns: {total: {bounds: [1, 2]}}\n"
    paths: list[tuple[tuple[str | int, ...], bool, tuple[int, int]]] = [
        (("database",), False, (1, 1)),
        (("tables",), False, (1, 1)),
        (("tables", "shop.orders", "unit", "person"), False, (2, 3)),
        (("tables", "shop.orders", "columns", "total", "bounds"), False, (3, 31)),
        (("tables", "shop.orders", "columns", "total", "bounds"), True, (3, 23)),
        (("tables", "shop.orders", "columns", "total", "bounds", 1), False, (3, 35)),
        (("tables", "shop.orders", "columns", "total", "bounds", 7), False, (3, 31)),
    ]
    for path, at_key, expected in paths:
        (found,) = locate([Problem(path, "wrong", at_key=at_key)], text, "p").problems
        assert (found.line, found.column) == expected


def test_compose_keeps_the_text_of_scalars() -> None:
    root, problems = compose("[1e-6, 010, no, 12:30:45, ~, '~', 0x1F, 2026-12-31]")
    assert problems == []
    assert [item.text for item in root.items] == [  # type: ignore[union-attr]
        "1e-6", "010", "no", "12:30:45", "~", "~", "0x1F", "2026-12-31",
    ]  # fmt: skip
