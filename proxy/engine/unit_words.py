"""Words of NOTICE and HTTP texts: how privacy units, numbers and aggregates are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from proxy.engine.accuracy import text_of
from proxy.kernel.plan import BlockPlan
from proxy.policy.blocks_of_time import is_block_line
from proxy.policy.policy_model import IdentifierUnit, Policy
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.noisy_expressions import AnswerOf, answers_in
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_HISSING = ("s", "x", "z", "ch", "sh")
_VOWELS = "aeiou"
_MADE = re.compile(r"[akw][0-9]+")  # columns of relations that the reading of subqueries makes


def unit_word(block: BlockPlan) -> str:
    """Name one privacy unit as the policy calls it."""
    return block.unit_name or "row"


def one_unit(block: BlockPlan) -> str:
    """Name one privacy unit with its article: "a customer", "an author"."""
    return with_article(unit_word(block))


def with_article(word: str) -> str:
    """
    >>> with_article("customer"), with_article("author")
    ('a customer', 'an author')
    """
    return f"an {word}" if word[0].lower() in _VOWELS else f"a {word}"


def unit_of_policy(policy: Policy) -> str:
    """Name one privacy unit of a policy with its article, each kind if there are several."""
    units = [
        table.unit.kind if isinstance(table.unit, IdentifierUnit) else "row"
        for table in policy.protected()
    ]
    return " or ".join(with_article(word) for word in dict.fromkeys(units)) or "a row"


def charged_blocks(tables: Iterable[str]) -> tuple[str, ...]:
    """Say which budgets of blocks of time a statement is charged to, in a line at most.

    >>> charged_blocks(["shop.orders", "person 2026-01", "person 2026-02"])
    ('2 blocks of time are read, person 2026-01 to person 2026-02: the budget of each pays, and not the total',)
    """
    blocks = sorted(filter(is_block_line, tables))
    if not blocks:
        return ()
    if len(blocks) == 1:
        return (f"the block {blocks[0]} is read: its budget pays, and not the total",)
    return (
        f"{len(blocks)} blocks of time are read, {blocks[0]} to {blocks[-1]}: the budget of each pays,"
        " and not the total",
    )


def units_word(block: BlockPlan) -> str:
    """Name several privacy units."""
    return plural(unit_word(block))


def plural(word: str) -> str:
    """Write the plural of an English noun.

    >>> [plural(word) for word in ("customer", "person", "company", "box", "survey", "person in a month")]
    ['customers', 'people', 'companies', 'boxes', 'surveys', 'people in a month']
    """
    word, within, block = word.partition(" in a ")  # as of IdentifierUnit.kind
    if within:
        return f"{plural(word)}{within}{block}"
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSING) else f"{word}s"


def counted(number: int, word: str) -> str:
    """
    >>> counted(1, "group"), counted(2_496, "group")
    ('1 group', '2,496 groups')
    """
    return f"{number:,} {word if number == 1 else plural(word)}"


def aggregate_word(aggregate: Aggregate) -> str:
    """Name an aggregate with its column, where it is of one bare column that somebody has named. A quantile has
    its fraction.

    >>> from proxy.base.sql_types import SqlType
    >>> aggregate_word(Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8))
    'count(*)'
    """
    name, column = aggregate.kind.value, named_column(aggregate)
    if aggregate.fraction is not None:
        of = "" if column is None else f" of {column}"
        return f"{name}({text_of(aggregate.fraction)}){of}"
    if column is None:
        return name
    if aggregate.kind is AggregateKind.COUNT_DISTINCT:
        return f"count(DISTINCT {column})"
    return f"{name}({column})"


def named_column(aggregate: Aggregate) -> str | None:
    """Give the bare column that an aggregate is of, if somebody has named it."""
    operand = aggregate.operand
    if not isinstance(operand, ColumnRef) or aggregate.second is not None:
        return None
    return None if _MADE.fullmatch(operand.column) else operand.column


def answer_name(block: BlockPlan, number: int) -> str:
    """Name an answer, by its number, as the output column that shows it, or the only one that is computed of
    it. Without one name the aggregate, unless that is the name of others, too."""
    words = [aggregate_word(answer.aggregate) for answer in block.answers]
    of_it = [
        (name, column)
        for name, column in zip(output_names(block), block.outputs, strict=True)
        if column.expression is not None and number in answers_in(column.expression)
    ]
    shown = [one for one in of_it if isinstance(one[1].expression, AnswerOf)]
    if not shown and len(of_it) == 1:
        shown = of_it
    word = words[number - 1]
    is_named = bool(shown) and (shown[0][0] == shown[0][1].name or words.count(word) > 1)
    return shown[0][0] if is_named else word


def output_names(block: BlockPlan) -> list[str]:
    """Name the output columns, with its place each that shares its name with another."""
    names = Counter(column.name for column in block.outputs)
    return [
        one.name if names[one.name] == 1 else f"{one.name} (column {place})"
        for place, one in enumerate(block.outputs, start=1)
    ]
