"""A division by a noisy 0 gives NULL: its divisor is wrapped in nullif(..., 0).

PostgreSQL raises an error for a division by 0. A noisy count can be 0 by its noise alone, and then one group
would cost the analyst the whole answer. Constants, and divisors in a SELECT that reads public rows only, stay
as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.query.ir.bound_statement import AggregateSubquery, GroupingValue, KeyValue
from proxy.query.rewrite.edits import Edit
from proxy.query.syntax.divisor_spans import divisors
from proxy.query.syntax.selects import Select, Span, selects
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.with_clauses import visible_ctes


def zero_divisor_edits(
    statement: Statement, subqueries: Sequence[AggregateSubquery], replaced: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Wrap the divisors of a rewritten statement that can be noisy.

    Args:
        statement: The client's statement.
        subqueries: Its SELECTs that noisy relations replace.
        replaced: The edits that do so. Text that they replace is left alone.

    Returns:
        Two insertions for each divisor. They come before `replaced` where both are at one place.
    """
    lexed = statement.lexed
    spans = sorted((edit.start, edit.end) for edit in replaced if edit.end > edit.start)
    answers = _AnswerSpans.of(statement, subqueries)
    found: list[Edit] = []
    for divisor in divisors(lexed, statement.first, statement.last):
        start, stop = lexed.lexemes[divisor[0]].start, lexed.lexemes[divisor[1] - 1].end
        operator = lexed.lexemes[divisor[0] - 1].start
        if not _is_replaced(spans, operator) and answers.may_be_in(divisor):
            found.append(Edit(start, start, "nullif("))
            found.append(Edit(stop, stop, ", 0)"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _AnswerSpans:
    """Where answers are in a statement.

    spans: Answers in the text, and whole SELECTs that give them.
    aggregating: The SELECTs that noisy relations replace, by their keyword.
    selects: All SELECTs, and for each whether it reads answers in FROM.
    """

    spans: frozenset[Span]
    aggregating: frozenset[int]
    selects: tuple[tuple[Select, bool], ...]

    @classmethod
    def of(cls, statement: Statement, subqueries: Sequence[AggregateSubquery]) -> _AnswerSpans:
        keywords = frozenset(subquery.select.keyword for subquery in subqueries)
        names = {cte.name for cte in visible_ctes(statement.lexed)}
        lexemes = statement.lexed.lexemes

        def reads_answers(select: Select) -> bool:
            first, last = select.clauses.get("from", (0, 0))
            is_named = any(lexeme.name in names for lexeme in lexemes[first:last])
            return is_named or any(first <= keyword < last for keyword in keywords)

        spans = {
            span
            for subquery in subqueries
            for span, meaning in subquery.spans.items()
            if not isinstance(meaning, KeyValue | GroupingValue)
        }
        spans |= {(one.select.keyword, one.select.end) for one in subqueries}
        return cls(
            frozenset(spans),
            keywords,
            tuple((select, reads_answers(select)) for select in selects(statement)),
        )

    def may_be_in(self, part: Span) -> bool:
        """Whether a part of the text can be made of answers."""
        if any(part[0] <= first and last <= part[1] for first, last in self.spans):
            return True
        around = [one for one in self.selects if one[0].keyword < part[0] and part[1] <= one[0].end]
        if not around:
            return False
        select, reads_answers = max(around, key=lambda one: one[0].keyword)
        return reads_answers and select.keyword not in self.aggregating


def _is_replaced(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether an edit covers the place. Edits do not overlap."""
    number = bisect_right(spans, place, key=lambda span: span[0])
    return number > 0 and place < spans[number - 1][1]
