"""What a function is with one condition gone: each `if`, operand, guard, refusal and check, one at a time."""

from __future__ import annotations

import ast
import copy
import importlib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_Place = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A function of the product without one condition.

    Attributes:
        file: As `kernel/attribution.py`.
        function: Its name, or `Class.method`.
        line: Of what goes.
        lines: Of the function.
        what: What goes, in words.
        tree: The function without it.
    """

    file: str
    function: str
    line: int
    lines: range
    what: str
    tree: ast.FunctionDef

    def put(self) -> None:
        """The weaker function in place of the real one, in this process."""
        module = importlib.import_module("proxy." + self.file[:-3].replace("/", "."))
        found: object = module
        for part in self.function.split("."):
            found = vars(found)[part]
        if isinstance(found, property):
            found = found.fget
        if isinstance(found, staticmethod | classmethod):
            found = found.__func__
        while hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        tree = copy.deepcopy(self.tree)
        tree.decorator_list = []
        future = ast.ImportFrom(module="__future__", names=[ast.alias(name="annotations")], level=0)
        whole = ast.fix_missing_locations(ast.Module(body=[future, tree], type_ignores=[]))
        codes = compile(whole, str(ROOT / "proxy" / self.file), "exec").co_consts
        assert isinstance(found, types.FunctionType), self.function
        found.__code__ = next(
            one for one in codes if isinstance(one, types.CodeType) and one.co_name == tree.name
        )


def removals(file: str) -> Iterator[Removal]:
    """Of each function and method of a file, in their order."""
    for name, function in _functions(ast.parse((ROOT / "proxy" / file).read_text("utf-8"))):
        for place, node in _nodes(function, ()):
            for what, instead in _weaker(node):
                yield Removal(
                    file=file,
                    function=name,
                    line=getattr(node, "lineno", None) or _line(instead, function),
                    lines=range(function.lineno, (function.end_lineno or function.lineno) + 1),
                    what=what,
                    tree=_with(function, place, instead),
                )


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name != "__repr__":
                    yield f"{node.name}.{method.name}", method


def _nodes(node: ast.AST, place: _Place) -> Iterator[tuple[_Place, ast.AST]]:
    """All that is below a node and can go; not what a refusal says."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        several = value if isinstance(value, list) else [value]
        for number, one in enumerate(several):
            if isinstance(one, ast.AST):
                here = (*place, (field, number if isinstance(value, list) else None))
                yield here, one
                if not isinstance(one, ast.Raise | ast.JoinedStr):
                    yield from _nodes(one, here)


def _weaker(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.BoolOp(op=op, values=values):
            for number, one in enumerate(values):
                rest = values[:number] + values[number + 1 :]
                left = rest[0] if len(rest) == 1 else ast.BoolOp(op=op, values=rest)
                yield f"without {_text(one)}", left
        case ast.If(test=test):
            yield f"never if {_text(test)}", _but(node, test=ast.Constant(value=False))
        case ast.comprehension(ifs=ifs):
            for number, one in enumerate(ifs):
                yield f"all, not if {_text(one)}", _but(node, ifs=ifs[:number] + ifs[number + 1 :])
        case ast.Compare(left=left, ops=[first, *ops], comparators=[middle, *others]) if others:
            yield f"only the last of {_text(node)}", ast.Compare(middle, ops, others)
            yield f"only the first of {_text(node)}", ast.Compare(left, [first], [middle])
        case ast.Raise() if "assert_never" not in _text(node) and "Assertion" not in _text(node):
            yield f"without {_text(node)}", ast.Pass()
        case ast.Expr(value=ast.Call() as call) if "assert_never" not in _text(call):
            yield f"without {_text(call)}", ast.Pass()
        case ast.AugAssign():
            yield f"without {_text(node)}", ast.Pass()
        case ast.Call(func=ast.Name(id="min" | "max"), args=[first, second]):
            for one in (first, second):
                if not isinstance(one, ast.Starred):
                    yield f"{_text(one)} for {_text(node)}", one
        case ast.match_case(guard=ast.AST() as guard, pattern=pattern):
            if not (isinstance(pattern, ast.MatchAs) and pattern.pattern is None):
                yield f"without the guard {_text(guard)}", _but(node, guard=None)
            yield f"never by the guard {_text(guard)}", _but(node, guard=ast.Constant(value=False))
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            for number, pattern in enumerate(patterns):
                if not (isinstance(pattern, ast.MatchAs) and pattern.pattern is None):
                    there = [*range(number), *range(number + 1, len(names))]
                    any_of_it = _but(
                        node,
                        kwd_attrs=[names[n] for n in there],
                        kwd_patterns=[patterns[n] for n in there],
                    )
                    yield f"any {names[number]} in the pattern", any_of_it


def _text(node: ast.AST) -> str:
    return ast.unparse(node)[:90]


def _line(node: ast.AST, function: ast.FunctionDef) -> int:
    return next((one.lineno for one in ast.walk(node) if hasattr(one, "lineno")), function.lineno)


def _but(node: ast.AST, **other: object) -> ast.AST:
    made = copy.copy(node)
    for field, value in other.items():
        setattr(made, field, value)
    return made


def _with(function: ast.FunctionDef, place: _Place, instead: ast.AST) -> ast.FunctionDef:
    made = copy.deepcopy(function)
    *way, (field, number) = place
    node: ast.AST = made
    for name, which in way:
        below = getattr(node, name)
        node = below if which is None else below[which]
    if number is None:
        setattr(node, field, copy.deepcopy(instead))
    else:
        getattr(node, field)[number] = copy.deepcopy(instead)
    return made
