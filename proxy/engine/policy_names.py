"""The tables of a policy where no session says what a name means: by the path that sessions have."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import Policy
from proxy.query.syntax.statements import Statement


def numbered(policy: Policy) -> dict[int, TableName]:
    """Each with a number in the place of an OID."""
    return dict(enumerate(sorted(policy.tables), start=1))


def resolved(statement: Statement, oids: Mapping[int, TableName]) -> tuple[int | None, ...]:
    """What to_regclass would say on the shadow: public first, then the policy's schemas."""
    by_name = {name: oid for oid, name in oids.items()}
    path = ["public", *sorted({name.schema for name in by_name} - {"public"})]
    found: dict[int, int | None] = {}
    lexemes = statement.lexed.lexemes
    for first, relation in statement.chains:
        parts = [lexemes[first].name]
        index = first
        while index + 2 < len(lexemes) and lexemes[index + 1].token.text == ".":
            index += 2
            parts.append(lexemes[index].name)
        schemas = path if len(parts) == 1 else [parts[-2]]
        candidates = (TableName(schema, parts[-1]) for schema in schemas)
        known = (by_name[name] for name in candidates if name in by_name)
        found[relation] = next(known, None)
    return tuple(found[index] for index in range(len(statement.relations)))
