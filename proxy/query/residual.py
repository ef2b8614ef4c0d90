"""The residual statement: the client's own text with the noised relation in the place of protected data.

Only the spans that must change do, so that everything else (formatting, functions, comments, error
positions) is PostgreSQL's business on exactly what the client wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Edit:
    start: int  # 0-based characters
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they must not overlap.

    >>> apply("select sum(a) from t", [Edit(7, 13, "q.a1")])
    'select q.a1 from t'
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        assert edit.start >= done, "edits of a residual overlap"
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join(parts) + text[done:]


def recordset(parameter: int, block: str, columns: Iterable[tuple[str, str]]) -> str:
    """The noised relation of one block as a FROM clause. columns: name and type.

    `FROM ROWS FROM` would do as well; a block without columns (GROUP BY () of nothing) has one dummy.
    """
    declared = ", ".join(f"{name} {kind}" for name, kind in columns) or "none integer"
    return f"FROM pg_catalog.jsonb_to_recordset({marker(parameter)}->'{block}') AS dp_{block}({declared})"


def marker(parameter: int) -> str:
    """How the residual names its relation parameter, in a form no client writes by chance."""
    return f"(${parameter})::pg_catalog.jsonb"


def quoted(identifier: str) -> str:
    """
    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + identifier.replace('"', '""') + '"'


_NAMES: Mapping[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.PercentileCont: "percentile_cont",
    exp.PercentileDisc: "percentile_disc",
    exp.StddevPop: "stddev_pop",
    exp.VariancePop: "var_pop",
    exp.StddevSamp: "stddev_samp",
    exp.TimestampTrunc: "date_trunc",
    exp.WidthBucket: "width_bucket",
    exp.Extract: "extract",
    exp.Coalesce: "coalesce",
    exp.Round: "round",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Abs: "abs",
    exp.Trunc: "trunc",
    exp.Upper: "upper",
    exp.Lower: "lower",
}


def column_name(node: exp.Expr, written: str = "") -> str | None:
    """The name PostgreSQL gives an output column whose expression is about to be exchanged.

    Given    written: the first word of the item, for functions that sqlglot knows by one name only
    Gives    None where PostgreSQL finds no name (?column?) or where it comes from a part that stays
    Source   FigureColnameInternal, src/backend/parser/parse_target.c
    """
    match node:
        case exp.Column():
            return node.name if node.this.args.get("quoted") else node.name.lower()
        case exp.Dot() if isinstance(node.expression, exp.Anonymous):
            return str(node.expression.name).lower()
        case exp.Filter() | exp.WithinGroup() | exp.Paren() | exp.Cast() | exp.Collate():
            return column_name(node.this, written)
        case exp.Case():
            default = node.args.get("default")
            found = None if default is None else column_name(default)
            return found or "case"
        case exp.Variance() | exp.Stddev() | exp.Extract():
            return written or _NAMES.get(type(node))
        case _:
            return _NAMES.get(type(node))
