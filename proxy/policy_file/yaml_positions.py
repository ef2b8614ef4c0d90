"""YAML text to a tree of plain text with positions. No value is interpreted here.

PyYAML is used for its event stream only: `yaml.load` would lose positions, let the last of two
equal keys win, read `1e-6` as text, `no` as false, `010` as 8 and `12:30:45` as 45045. Anchors,
aliases, tags and more than one document are refused: a policy has no use for them, and an alias
can make a small file grow without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import yaml

NESTING_DEPTH = 16  # a policy needs 6

_NOT_YAML = (
    "look at this line and the one above: a bracket or quote left open, a : or its blank missing"
)
_NOT_PRINTED = "take the character out; in \"quotes\" a \\ begins an escape, in 'these' it does not"
_ONE = "take the --- out, and all behind it into a file of its own"
_PLAIN = "take it out: dpproxy policy manual lists all that a policy has"


class Position(NamedTuple):
    """1-based, in characters."""

    line: int
    column: int


START = Position(1, 1)


@dataclass(frozen=True, slots=True)
class ScalarNode:
    text: str
    quoted: bool  # quoted or block text: never null, never a number
    at: Position


@dataclass(frozen=True, slots=True)
class SequenceNode:
    items: tuple[Node, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class Entry:
    key: str
    key_at: Position
    value: Node


@dataclass(frozen=True, slots=True)
class MappingNode:
    entries: Mapping[str, Entry]  # in the order of the text
    at: Position


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """Stands where something was refused already, so that nobody complains about it twice."""

    at: Position


Node = ScalarNode | SequenceNode | MappingNode | RefusedNode


@dataclass(frozen=True, slots=True)
class YamlProblem:
    message: str
    at: Position
    hint: str = ""


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    at: Position
    is_mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: tuple[str, Position] | None = None  # read, its value not yet
    key_refused: bool = False


class _LineMark(Protocol):
    """What PyYAML's own and libyaml's marks have in common; both count from 0."""

    line: int
    column: int


class _TooDeep(Exception):
    pass


def compose(text: str) -> tuple[Node | None, list[YamlProblem]]:
    """The tree of a YAML text and everything that is wrong with it as YAML.

    Gives    the root (None: there is no document, or the text ends in a syntax error) and problems
    Refuses  nothing by raising: any text gives an answer
    """
    problems: list[YamlProblem] = []
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        root = _build(loader, problems)
    except yaml.MarkedYAMLError as error:
        at = _position(error.problem_mark or error.context_mark)
        wrong = str(error.problem or error.context)
        hint = "indent with blanks, not with tabs" if "'\\t'" in wrong else _NOT_YAML
        problems.append(YamlProblem(f"not YAML: {wrong}", at, hint))
        root = None
    except yaml.reader.ReaderError as error:
        at = position_of(text, error.position)
        problems.append(
            YamlProblem("not YAML: a character that cannot be printed", at, _NOT_PRINTED)
        )
        root = None
    except (ValueError, OverflowError):
        # PyYAML lets int() and chr() raise: "%YAML 1.<5000 digits>", "\\U00110000".
        at = _position(loader.get_mark() if loader is not None else None)
        problems.append(YamlProblem("not YAML: an escape or number out of range", at, _NOT_PRINTED))
        root = None
    except _TooDeep:
        root = None
    return root, problems


def position_of(text: str, index: int) -> Position:
    """The line and column of a character, with YAML 1.1's line breaks."""
    lines = split_lines(text[:index] + "x")
    return Position(len(lines), len(lines[-1]))


def split_lines(text: str) -> list[str]:
    """The lines as PyYAML counts them: also at U+0085, U+2028 and U+2029, unlike in a form feed."""
    for line_break in ("\r\n", "\r", "\x85", "\u2028", "\u2029"):
        text = text.replace(line_break, "\n")
    return text.split("\n")


def _position(mark: _LineMark | None) -> Position:
    return START if mark is None else Position(mark.line + 1, mark.column + 1)


def _build(loader: yaml.SafeLoader, problems: list[YamlProblem]) -> Node | None:
    """Runs on a stack of its own: nesting must not reach Python's."""
    root: Node | None = None
    stack: list[_Open] = []
    while loader.check_event():
        event: yaml.Event = loader.get_event()  # type: ignore[no-untyped-call]
        at = _position(event.start_mark)
        node: Node
        match event:
            case yaml.DocumentStartEvent():
                if root is not None:
                    problems.append(YamlProblem("a policy file holds one document", at, _ONE))
                    return root
                if event.version is not None or event.tags:
                    problems.append(
                        YamlProblem("a YAML directive (%) has no use in a policy", at, _PLAIN)
                    )
                continue
            case yaml.AliasEvent():
                problems.append(
                    YamlProblem("an alias (*) is refused", at, "write the value out in full")
                )
                node = RefusedNode(at)
            case yaml.ScalarEvent():
                _refuse_properties(event, at, problems)
                node = ScalarNode(event.value, event.style is not None, at)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                _refuse_properties(event, at, problems)
                if len(stack) == NESTING_DEPTH:
                    problems.append(
                        YamlProblem(f"more than {NESTING_DEPTH} levels deep", at, _PLAIN)
                    )
                    raise _TooDeep
                stack.append(_Open(at, isinstance(event, yaml.MappingStartEvent)))
                continue
            case yaml.MappingEndEvent():
                closed = stack.pop()
                node = MappingNode(closed.entries, closed.at)
            case yaml.SequenceEndEvent():
                closed = stack.pop()
                node = SequenceNode(tuple(closed.items), closed.at)
            case _:  # stream start and end, document end
                continue
        if stack:
            _put(stack[-1], node, problems)
        else:
            root = node
    return root


def _refuse_properties(
    event: yaml.ScalarEvent | yaml.CollectionStartEvent, at: Position, problems: list[YamlProblem]
) -> None:
    if event.anchor is not None:
        problems.append(YamlProblem("an anchor (&) is refused", at, "write the value out in full"))
    if event.tag is not None:
        problems.append(
            YamlProblem("a tag (!) is refused", at, "the policy format knows each value's type")
        )


def _put(parent: _Open, node: Node, problems: list[YamlProblem]) -> None:
    if not parent.is_mapping:
        parent.items.append(node)
    elif parent.key is None and not parent.key_refused:
        match node:
            case ScalarNode() if node.text:
                parent.key = (node.text, node.at)
            case ScalarNode():
                problems.append(YamlProblem("a key is empty", node.at, "write a name before the :"))
                parent.key_refused = True
            case RefusedNode():
                parent.key_refused = True
            case MappingNode() | SequenceNode():
                problems.append(
                    YamlProblem("a key must be plain text", node.at, "write a name before the :")
                )
                parent.key_refused = True
    elif parent.key is None:
        parent.key_refused = False  # the value of a refused key
    else:
        key, key_at = parent.key
        parent.key = None
        first = parent.entries.get(key)
        if first is None:
            parent.entries[key] = Entry(key, key_at, node)
        else:
            problems.append(
                YamlProblem(
                    "this key occurs twice",
                    key_at,
                    f"the first is in line {first.key_at.line}; YAML readers differ on which wins",
                )
            )
