"""The statement that says what keys are for listed values (planner/label_evaluation.py): it reads no table."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import element_type, value_sql
from proxy.planner.label_evaluation import DOMAIN, LabelQuestion, Texts


def label_sql(question: LabelQuestion, rows: Sequence[Texts]) -> tuple[str, dict[str, object]]:
    """Print a question for some of its rows, with its parameters. The key is printed as in the statement that
    runs on the data, but that a text may be cast."""
    binds = Binds()
    texts = ", ".join(f"({value_sql(one, binds)})::text" for one in question.expressions)
    several = list(enumerate(question.kinds))
    if not several:  # constants
        return f"SELECT {texts}", binds.values
    columns = ", ".join(f"c{n}::{element_type(kind)} AS p{n}" for n, kind in several)
    given = [binds.at_each_run(f"rows{n}", [row[n] for row in rows], "text[]") for n, _ in several]
    named = ", ".join(f"c{n}" for n, _ in several)
    several_rows = ", ".join(f"pg_catalog.unnest({texts_of_one})" for texts_of_one in given)
    unnested = f"ROWS FROM ({several_rows}) WITH ORDINALITY AS u({named}, n)"
    return (
        f"SELECT {texts} FROM (SELECT {columns}, n FROM {unnested}) AS {DOMAIN} ORDER BY n",
        binds.values,
    )
