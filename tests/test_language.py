"""One language: names and texts of the product are those of docs/glossary.md, each name of a class or file
stands for one thing, and no file grows beyond what can be read at once.

What may not come back is listed in forbidden_words.txt, each with what to write instead.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_PRODUCT = sorted((_ROOT / "proxy").rglob("*.py"))
_LONGEST = 350  # lines of a file
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DOCUMENTS = sorted(
    [
        *_ROOT.glob("*.md"),
        *(_ROOT / "docs").rglob("*.md"),
        *(_ROOT / "deploy").rglob("*.md"),
        *(_ROOT / "policies").rglob("*.md"),
        *(_ROOT / "proxy").rglob("*.md"),
    ]
)
_WITHOUT_PROSE = ("CHANGELOG.md",)  # which tells what the names were


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    kind: str
    pattern: str
    instead: str
    allowed: frozenset[str]


def _rules() -> Iterator[_Rule]:
    for line in (_ROOT / "tests" / "forbidden_words.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, _, rest = line.partition(": ")
        fields = [field.strip() for field in rest.split(" | ")]
        allowed = fields[2].split() if len(fields) > 2 else []
        assert not allowed or (len(fields) == 4 and fields[3]), (
            f"an allowance needs a reason: {line}"
        )
        yield _Rule(kind=kind, pattern=fields[0], instead=fields[1], allowed=frozenset(allowed))


_RULES = tuple(_rules())


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def identifiers(file: Path) -> Iterator[tuple[str, int]]:
    """Names that a file makes, with lines: its own, classes, functions, parameters, attributes, variables."""
    yield file.stem, 1
    for node in ast.walk(_tree(file)):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno
            case ast.MatchAs(name=str(name)):
                yield name, node.lineno
            case ast.alias(asname=str(name)):
                yield name, 1
            case _:
                pass


def words(identifier: str) -> tuple[str, ...]:
    """
    >>> words("_readsBlock_of"), words("HTTPServer")
    (('reads', 'block', 'of'), ('http', 'server'))
    """
    return tuple(word.lower() for word in _WORD.findall(identifier))


@cache
def texts(file: Path) -> tuple[tuple[str, int], ...]:
    """What people read of a file of the product: its strings, and of its docstrings those of commands."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    internal: set[int] = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, described) and node.body and isinstance(node.body[0], ast.Expr):
            is_command = not isinstance(node, ast.Module | ast.ClassDef) and any(
                "command" in ast.dump(decorator) for decorator in node.decorator_list
            )
            if not is_command:
                internal.add(id(node.body[0].value))
    return tuple(
        (node.value, node.lineno)
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and " " in node.value
        and id(node) not in internal
    )


def _place(file: Path) -> str:
    return file.relative_to(_ROOT).as_posix()


def test_identifiers_are_of_the_glossary() -> None:
    forbidden = {rule.pattern: rule for rule in _RULES if rule.kind == "identifier"}
    found = [
        f"{_place(file)}:{line}: {name}: write {forbidden[word].instead}"
        for file in _PRODUCT
        for name, line in dict(identifiers(file)).items()
        for word in words(name)
        if word in forbidden and name not in forbidden[word].allowed
    ]
    assert found == []


def test_classes_are_of_the_glossary() -> None:
    forbidden = {rule.pattern: rule.instead for rule in _RULES if rule.kind == "class"}
    found = [
        f"{_place(file)}: {name}: write {forbidden[name]}"
        for file in _PRODUCT
        for name, _ in identifiers(file)
        if name in forbidden
    ]
    assert found == []


@pytest.mark.parametrize(
    "rule", [r for r in _RULES if r.kind == "text"], ids=lambda rule: rule.pattern
)
def test_texts_are_of_the_glossary(rule: _Rule) -> None:
    pattern = re.compile(rule.pattern)
    found = [
        f"{_place(file)}:{line}: {text!r}"
        for file in _PRODUCT
        for text, line in texts(file)
        if pattern.search(text) and _place(file) not in rule.allowed
    ]
    found += [
        f"{_place(page)}:{number}: {line.strip()}"
        for page in _DOCUMENTS
        if page.name not in _WITHOUT_PROSE and _place(page) not in rule.allowed
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"write {rule.instead}"


def test_what_is_allowed_is_there() -> None:
    """An allowance that nothing needs any more would let a word come back."""
    names = {name for file in _PRODUCT for name, _ in identifiers(file)}
    for rule in _RULES:
        if rule.kind == "identifier":
            assert rule.allowed <= names, rule.pattern
        elif rule.kind == "text":
            assert all((_ROOT / place).is_file() for place in rule.allowed), rule.pattern


def test_no_class_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for file in _PRODUCT:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(_place(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_file_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for file in _PRODUCT:
        if file.name != "__init__.py":
            places[file.name].append(_place(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_file_is_too_long() -> None:
    lengths = {_place(file): len(file.read_text().splitlines()) for file in _PRODUCT}
    assert {place: lines for place, lines in lengths.items() if lines > _LONGEST} == {}
