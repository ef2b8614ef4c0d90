"""The rewritten statement: the client's own text with noisy relations in the place of protected data."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.query.rewrite.edits import Edit, apply, with_relation


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenStatement:
    """text: of `source`, the client's, with all edits made; relation_parameter: the number of its jsonb
    parameter, {"b1": [rows of the first aggregate subquery], ...}."""

    source: str
    edits: tuple[Edit, ...]
    relation_parameter: int
    text: str

    def inlined(self, relation: str) -> str:
        """With the relation as a literal, for COPY, which takes no parameters."""
        # E'' means the same whatever standard_conforming_strings is in the session.
        escaped = relation.replace("\\", "\\\\").replace("'", "''")
        literal = f"E'{escaped}'::pg_catalog.jsonb"
        return apply(self.source, with_relation(self.edits, literal))


def rewrite_statement(source: str, edits: tuple[Edit, ...], parameters: int) -> RewrittenStatement:
    """
    Given    parameters: how many the client's statement has
    Refuses  SYNTAX: edits that overlap
    """
    return RewrittenStatement(
        source=source, edits=edits, relation_parameter=parameters + 1, text=apply(source, edits)
    )
