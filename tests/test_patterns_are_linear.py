"""Each pattern reads a text in one step for each character, whatever the text is.

A pattern that can divide a text in several ways tries them all where the rest does not fit. 22 comments
between two words took 0.9 s, twice as many for each further one, and a header of 60 KB of blanks took 24 s,
before any login.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proxy
from tests.machine_speed import allowed_work

_ALONE = sys.version_info < (3, 11)
constants = importlib.import_module("sre_constants" if _ALONE else "re._constants")
parser = importlib.import_module("sre_parse" if _ALONE else "re._parser")

_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)
# One that doubles with each word takes 0.2 s for 20 of them; one that is quadratic 0.5 s for 10,000 characters.
_WORDS_REPEATED = (14, 18, 21, 24, 28, 33, 38)
_CHARACTERS = (300, 2000, 10_000)
_LONGEST = allowed_work(0.15)  # One that is linear takes 0.002 s.
_WORDS = 5


def _patterns() -> dict[str, tuple[re.Pattern[Any], list[str]]]:
    """All patterns of the modules of proxy by module and name, and the methods that are called of each."""
    found: dict[str, tuple[re.Pattern[Any], list[str]]] = {}
    for one in pkgutil.walk_packages(proxy.__path__, "proxy."):
        if one.name.endswith("__main__"):
            continue
        module = importlib.import_module(one.name)
        source = Path(str(module.__file__)).read_text()
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                called = re.findall(
                    rf"\b{name}\.(match|fullmatch|search|finditer|findall|sub)\b", source
                )
                found[f"{one.name}.{name}"] = value, called or ["search"]
    return found


def _words(tree: Any) -> Iterator[str]:
    """The runs of literal characters of a pattern, and one character of each class."""
    run = ""
    for operator, argument in tree:
        if operator is constants.LITERAL:
            run += chr(argument)
            continue
        if run:
            yield run
        run = ""
        if operator is constants.IN:
            yield from _of_class(argument)
        elif operator in (constants.ANY, constants.NOT_LITERAL):
            yield "x"
        elif operator is constants.SUBPATTERN:
            yield from _words(argument[3])
        elif operator in _REPEATS:
            yield from _words(argument[2])
        elif operator is constants.BRANCH:
            for branch in argument[1]:
                yield from _words(branch)
    if run:
        yield run


def _of_class(members: Any) -> Iterator[str]:
    for kind, argument in members:
        if kind is constants.LITERAL:
            yield chr(argument)
        elif kind is constants.RANGE:
            yield chr(argument[0])
        else:
            yield from (" ", "x")


def _texts(pattern: re.Pattern[Any]) -> Iterator[list[Any]]:
    """Growing texts that repeat what the pattern names, with an end that it does not have."""
    source = pattern.pattern
    is_text = isinstance(source, str)
    tree = parser.parse(
        source if is_text else source.decode("latin-1"), pattern.flags & ~re.UNICODE
    )
    words = list(dict.fromkeys(_words(tree)))
    joined = [one + other for one in words[:_WORDS] for other in words[:_WORDS]]
    for unit in dict.fromkeys((*words[: 2 * _WORDS], *joined)):
        for start in _starts(tree) if len(unit) == 1 else ("", words[0] + "x"):
            times = (*_WORDS_REPEATED, *(count // len(unit) + 1 for count in _CHARACTERS))
            texts = [start + unit * count + "\x01" for count in times]
            yield texts if is_text else [text.encode("latin-1") for text in texts]


def _starts(tree: Any) -> list[str]:
    """What the shortest match begins with, up to each of its repetitions."""
    found, so_far = {"": None}, ""
    for part in tree:
        if part[0] in _REPEATS:
            found |= {so_far: None, so_far + "x": None}
        so_far += "".join(_shortest([part]))
    return list(found)[:_WORDS]


def _shortest(tree: Any) -> Iterator[str]:
    for operator, argument in tree:
        if operator is constants.LITERAL:
            yield chr(argument)
        elif operator is constants.IN:
            yield next(_of_class(argument))
        elif operator is constants.SUBPATTERN:
            yield from _shortest(argument[3])
        elif operator in _REPEATS:
            yield from list(_shortest(argument[2])) * argument[0]
        elif operator is constants.BRANCH:
            yield from _shortest(argument[1][0])


def _slowest(pattern: re.Pattern[Any], methods: list[str]) -> tuple[float, str]:
    slowest = (0.0, "")
    for texts in _texts(pattern):
        for text in texts:
            begun = time.thread_time()
            for method in methods:
                _call(pattern, method, text)
            slowest = max(slowest, (time.thread_time() - begun, repr(text[:60])))
            if not slowest[0] < _LONGEST:
                return slowest
    return slowest


def _call(pattern: re.Pattern[Any], method: str, text: Any) -> None:
    if method == "sub":
        pattern.sub(text[:0], text)
    elif method == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    else:
        getattr(pattern, method)(text)


@pytest.mark.timed
def test_no_text_takes_long() -> None:
    found = {name: _slowest(*one) for name, one in _patterns().items()}
    assert len(found) > 50
    assert not {name: one for name, one in found.items() if not one[0] < _LONGEST}


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (rb"(?im)^content-length[ \t]*:[ \t]*(.*?)[ \t]*\r?$", "finditer"),
        (r"(?is)\balter(?:\s|--[^\n\r]*|/\*.*?\*/)+(?:role|user)\b", "search"),
    ],
)
def test_patterns_that_were_slow_are_found(pattern: Any, method: str) -> None:
    assert not _slowest(re.compile(pattern), [method])[0] < _LONGEST
