"""Where rows are wanted by themselves, without what is joined or compared with them on the shadow."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.errors import Code, Refusal
from proxy.query.bind.sources import Sources
from proxy.query.syntax.selects import Select, Span

_IN_AGGREGATES = (
    "Join the other query in the SELECT that aggregates:"
    " SELECT k, count(*) FROM table JOIN (SELECT ...) q ON k = q.k GROUP BY k."
)
AS_A_CONSTANT = "Run the inner query by itself and write its result as a constant."


def refuse_answers(
    sources: Sources, select: Select, retained: Sequence[Span] = (), hint: str = _IN_AGGREGATES
) -> None:
    """Where rows are wanted: what is joined with answers is only known on the shadow.

    Given    a SELECT of which the source has been read; retained: its conditions on answers
    Refuses  UNSUPPORTED: answers in its FROM or such conditions
    """
    places = [join.place for join in sources.joined[select.keyword].joins]
    places += [first for first, _ in retained]
    if places:
        raise Refusal(
            Code.UNSUPPORTED,
            "rows of protected tables cannot be combined with other queries in a subquery",
            hint,
            sources.lexed.lexemes[places[0]].position,
        )
