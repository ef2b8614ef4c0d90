"""Which comparisons of texts go by bytes where a reader may expect the order of a language."""

from __future__ import annotations

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.query.ir.expression_walk import column_refs
from proxy.query.ir.expressions import Comparison, Constant
from proxy.query.ir.query import Query


def text_order_lines(query: Query) -> tuple[str, ...]:
    """Say of each text column that it is compared by bytes, where the other side has letters.

    Digits are in one order either way, so months as texts are not told.

    Args:
        query: With its parameters replaced by values.
    """
    found = dict[str, None]()
    for part in nodes(query.blocks):
        if isinstance(part, Comparison) and part.comparator.is_of_order:
            for side, other in ((part.left, part.right), (part.right, part.left)):
                text = other.value if isinstance(other, Constant) else ""
                if not isinstance(text, str) or not any(map(str.isalpha, text)):
                    continue
                if side.type is not None and side.type.is_text and side.type is not SqlType.ENUM:
                    found |= dict.fromkeys(one.column for one in column_refs(side))
    return tuple(f"{column} is compared by bytes: 'Z' comes before 'a'" for column in found)
