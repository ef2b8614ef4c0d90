"""Changes of single places of a text. Only the spans that must change do, so that everything else (formatting,
functions, comments, error positions) is PostgreSQL's business on exactly what the client wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from proxy.base.errors import Code, Refusal


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
                "the parts of the statement cannot be distinguished",
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


def marker(parameter: int) -> str:
    """How a rewritten statement names its relation parameter."""
    return f"(${parameter})::pg_catalog.jsonb"
