"""The residual statement: the client's own text with the noised relation in the place of protected data.

Only the spans that must change do, so that everything else (formatting, functions, comments, error
positions) is PostgreSQL's business on exactly what the client wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from proxy.base.errors import Code, Refusal

# As format_type spells them; gram.y, SystemTypeName.
_TYPE_WORDS = frozenset(
    {
        *("smallint", "integer", "bigint", "numeric", "real", "double", "boolean", "bit"),
        *("character", "timestamp", "time", "interval"),
    }
)


@dataclass(frozen=True, slots=True)
class Edit:
    """relation: what stands in `text` for the relation's value, "" where it does not occur."""

    start: int  # 0-based characters
    end: int
    text: str
    relation: str = ""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they must not overlap.

    >>> apply("select sum(a) from t", [Edit(7, 13, "q.a1")])
    'select q.a1 from t'
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:  # of a text that PostgreSQL does not take for a statement either
            raise Refusal(
                Code.SYNTAX,
                "the parts of the statement cannot be told apart",
                "Write one statement.",
            )
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join(parts) + text[done:]


def with_relation(edits: Iterable[Edit], literal: str) -> tuple[Edit, ...]:
    """The same edits with a literal in the place of the relation parameter. Only there: what the client
    wrote may look like it."""
    return tuple(
        replace(edit, text=edit.text.replace(edit.relation, literal, 1)) if edit.relation else edit
        for edit in edits
    )


def recordset(parameter: int, block: str, columns: Iterable[tuple[str, str]]) -> str:
    """The noised relation of one block as a FROM clause. columns: name and type.

    `FROM ROWS FROM` would do as well; a block without columns (GROUP BY () of nothing) has one dummy.
    """
    declared = ", ".join(f"{name} {system_type(kind)}" for name, kind in columns) or "none integer"
    return f"FROM pg_catalog.jsonb_to_recordset({marker(parameter)}->'{block}') AS dp_{block}({declared})"


def system_type(name: str) -> str:
    """
    Given    a type of PostgreSQL's own as format_type prints it, on an empty search_path
    Gives    what means that type on every search_path: an analyst may have a type of that name in pg_temp,
             which is looked at first. Words of the grammar mean PostgreSQL's own type wherever they stand

    >>> system_type("text"), system_type("timestamp(3) with time zone"), system_type("character varying(20)")
    ('pg_catalog.text', 'timestamp(3) with time zone', 'character varying(20)')
    """
    word = name.partition(" ")[0].partition("(")[0]
    return name if word in _TYPE_WORDS or "." in name else f"pg_catalog.{name}"


def marker(parameter: int) -> str:
    """How the residual names its relation parameter."""
    return f"(${parameter})::pg_catalog.jsonb"


def quoted(identifier: str) -> str:
    """
    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + identifier.replace('"', '""') + '"'
