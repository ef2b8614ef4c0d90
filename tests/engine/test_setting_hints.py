"""Hints that name a setting name it for both listeners: an HTTP request holds what a session would SET."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import proxy
from proxy.base.errors import Refusal
from proxy.base.session_settings import ANSWERED_SETTINGS
from proxy.engine.settings import read_settings
from proxy.policy.policy_model import Privacy
from tests.pipeline_world import walk

_PRODUCT = Path(proxy.__file__).parent
_OF_A_STATEMENT = re.compile(r"\b(?:RE)?SET dp\.(?:epsilon|delta)|\bwith dp\.(?:epsilon|delta)")
_OF_THE_SESSION = re.compile(r"\bSET ([A-Za-z_]+) = '?[\w{}]+'?(?=[,.]|$)")
_WRITER = "base/session_settings.py"


def _texts(path: Path) -> Iterator[str]:
    """String constants of a file, those of f-strings with {} for a value; not its documentation."""
    tree = ast.parse(path.read_text())
    documents = {
        id(part.value)
        for part in ast.walk(tree)
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
    }
    for part in ast.walk(tree):
        if isinstance(part, ast.JoinedStr):
            yield "".join(
                str(x.value) if isinstance(x, ast.Constant) else "{}" for x in part.values
            )
        elif isinstance(part, ast.Constant) and id(part) not in documents:
            yield str(part.value)


@pytest.mark.long
def test_one_function_writes_how_a_statement_is_set() -> None:
    found = {
        path.relative_to(_PRODUCT).as_posix()
        for path in _PRODUCT.rglob("*.py")
        for text in _texts(path)
        if _OF_A_STATEMENT.search(text)
    }
    assert found <= {_WRITER}


def test_a_request_cannot_be_refused_for_another_setting() -> None:
    """Each other setting that a hint says to SET is pinned in the sessions of HTTP (tests/servers/http)."""
    named = {
        found[1]
        for folder in ("engine", "planner", "query", "release")
        for path in (_PRODUCT / folder).rglob("*.py")
        for text in _texts(path)
        for found in _OF_THE_SESSION.finditer(text)
    }
    assert "TimeZone" in named
    assert named <= ANSWERED_SETTINGS.keys()


_MEDIAN = "SELECT avg(i4), max(i4) FROM people"
_PRIVATE_KEY = "SELECT s, count(*) FROM people GROUP BY s"


@pytest.mark.parametrize(
    ("statement", "settings"),
    [
        (_MEDIAN, {"dp.delta": "0"}),
        (_PRIVATE_KEY, {"dp.delta": "0"}),
        (_MEDIAN, {"dp.delta": "1e-101"}),
        (_MEDIAN, {"dp.delta": "2"}),
        (_MEDIAN, {"dp.delta": "x"}),
        (_MEDIAN, {"dp.epsilon": "0.001"}),
        (_MEDIAN, {"dp.epsilon": "1e-9"}),
        (_MEDIAN, {"dp.epsilon": "99999"}),
        (_MEDIAN, {"dp.epsilon": "-1"}),
        (_MEDIAN, {"dp.epsilon": "one"}),
        (_MEDIAN, {"dp.notice": "perhaps"}),
        ("SELECT count(*) FROM people", {"statement_timeout": "long"}),
        ("SELECT count(*) FROM people", {"transform_null_equals": "on"}),
    ],
)
def test_what_a_hint_sets_is_answered(statement: str, settings: dict[str, str]) -> None:
    with pytest.raises(Refusal) as caught:
        walk(statement, settings=settings)
    hint = caught.value.hint
    (name,) = settings
    found = re.match(rf"(?:SET {name} = '?([^ ,;']+)'?|RESET {name})", hint)
    assert found, hint
    over_http = re.search(r'over HTTP (?:leave out )?"(\w+)"(?:: ([^)]+))?', hint)
    assert (over_http is not None) == (name in ("dp.epsilon", "dp.delta"))
    if over_http:
        assert (f"dp.{over_http[1]}", over_http[2]) == (name, found[1])
    walk(statement, settings={name: found[1]} if found[1] else {})


def test_the_policy_says_whether_what_is_published_answers() -> None:
    """Where a session does not; nothing that is published answers what is asked anew."""
    on = Privacy(Fraction(1), Fraction(0), Fraction(1), Fraction(0))
    off = replace(on, uses_published=False)
    assert read_settings({}, on).uses_published and not read_settings({}, off).uses_published
    assert read_settings({"dp.published": "on"}, off).uses_published
    assert not read_settings({"dp.published": "off"}, on).uses_published
    assert not read_settings({"dp.published": "on", "dp.fresh": "on"}, on).uses_published
