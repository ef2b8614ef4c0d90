"""The refusal of a statement whose rows take too long, in words of the statement.

The planner puts functions of its own around what is written (`left()`, `date_trunc()`), and the kernel names
the dearest of all. Of one that the statement does not have the tables are named instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import TableName
from proxy.kernel.work import LONG_NUMBER, TooMuchWork
from proxy.policy.policy_model import BoundsKind, IdentifierUnit, Policy, ProtectedTable
from proxy.query.ir.query import Query
from proxy.query.ir.relations import scans
from proxy.query.syntax.selects import is_call
from proxy.query.syntax.tokens import Lexed

_PAIRS = 100  # rows of a unit: more are pairs that a join forms
_CALL = re.compile(r"(\w+)\(\)")
_OTHERS = {
    "+ interval": ("interval",),
    "a cast": ("::", "cast"),
    "a look into jsonb or an array": ("->", "->>", "@>", "any", "cardinality"),
    "IN (SELECT ...)": ("in",),
}


def in_words_of(refused: TooMuchWork, lexed: Lexed, query: Query, policy: Policy) -> TooMuchWork:
    """Write the refusal anew, with what the statement has.

    Args:
        refused: By the kernel.
        lexed: The statement.
        query: What it asks.
    """
    work, dearest = refused.work, refused.dearest
    if dearest is None:
        return refused
    step, message = dearest.written, refused.message
    is_written = _is_written(step, lexed)
    if is_written and dearest.digits > LONG_NUMBER:
        return refused
    tables = _tables(query, policy)
    if not is_written:
        names = " and ".join(dict.fromkeys(written_name(*table) for table, _ in tables))
        message = f"{refused.without_step}{f' of {names}' if names else ''}"
    own = f", or use {step} fewer times" if is_written else ""
    if work is None or work.rows <= _PAIRS or len(tables) < 2:
        hint = f"Ask for fewer columns, keys or conditions in one statement{own}."
        return TooMuchWork(message, hint, work)
    table, unit = tables[-1]
    own_policy = policy.tables[table]
    assert isinstance(own_policy, ProtectedTable)
    bounded = ((name, one.bounds) for name, one in own_policy.columns.items())
    times = [name for name, one in bounded if one is not None and one.kind is not BoundsKind.NUMBER]
    return TooMuchWork(
        message, _pairs_hint(written_name(*table), written_name(unit), times, own), work
    )


def _pairs_hint(table: str, unit: str, times: Sequence[str], own: str) -> str:
    hint = "Each row is paired with all others of its unit, whatever else ON says."
    hint = f"{hint} Group by fewer keys{own}."
    if not times:
        return hint
    time = written_name(times[0])
    last = f"(SELECT {unit}, max({time}) AS last FROM {table} GROUP BY {unit})"  # noqa: S608
    return (
        f"{hint} If one other row is enough, take the next one's, lead({time}) OVER (PARTITION BY {unit} ORDER"
        f" BY {time}) in a subquery, or one of each unit, JOIN {last} q USING ({unit})."
    )


def _tables(query: Query, policy: Policy) -> list[tuple[TableName, str]]:
    """Tables of the statement whose rows name their unit, with that column."""
    found = []
    for block in query.blocks:
        for scan in scans(block.source):
            table = policy.tables.get(scan.table)
            unit = table.unit if isinstance(table, ProtectedTable) else None
            if isinstance(unit, IdentifierUnit) and unit.is_in_column:
                found.append((scan.table, unit.column))
    return found


def _is_written(step: str, lexed: Lexed) -> bool:
    called = _CALL.fullmatch(step)
    if called is not None:
        return any(
            one.name == called[1] and is_call(lexed, place)
            for place, one in enumerate(lexed.lexemes)
        )
    compared = re.fullmatch(r"a comparison \((.+)\)", step)
    wanted = (compared[1],) if compared else _OTHERS.get(step, (step.lower(),))
    return any(one.token.text.lower() in wanted for one in lexed.lexemes)
