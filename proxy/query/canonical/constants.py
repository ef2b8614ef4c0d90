"""Parts of a statement that are made of constants alone: the shadow evaluates them before any row is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from proxy.base.sql_types import SqlType
from proxy.query.canonical import trees
from proxy.query.canonical.printing import expression_sql
from proxy.query.canonical.walk import children, parts, unknown_relations
from proxy.query.syntax.constant_spans import FUNCTIONS

# As canonical text names them, beside those that statements have.
_FUNCTIONS = FUNCTIONS | {
    *("COALESCE", "NULLIF", "GREATEST", "LEAST", "extract", "substring", "like_escape"),
}
_WORDS = frozenset(
    {"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIMESTAMP", "LOCALTIME"}
)


@dataclass(frozen=True, slots=True)
class ConstantPart:
    """What the shadow has said of one: its number, after those of the client's parameters, and its type."""

    number: int
    type: SqlType
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class KnownConstants:
    """By their texts."""

    parts: Mapping[str, ConstantPart] = field(default_factory=dict)

    def of(self, tree: trees.Tree) -> ConstantPart | None:
        if not self.parts or not (is_made(tree) or isinstance(tree, trees.ParameterName)):
            return None
        return self.parts.get(expression_sql(tree))

    def list_of(self, query: trees.QueryTree) -> ConstantPart | None:
        """The values of a query of the client's own tables."""
        return self.parts.get(expression_sql(trees.ArrayQuery(query))) if self.parts else None


NO_CONSTANTS = KnownConstants()


def made_constants(tree: object) -> tuple[str, ...]:
    """The texts of all parts that have to be evaluated, the largest of each; each once."""
    every = tuple(parts(tree, with_queries=True))
    ctes = frozenset(one.name for one in every if isinstance(one, trees.CteTree))
    lists = (
        one.query for one in every if isinstance(one, trees.InQuery) and _is_own(one.query, ctes)
    )
    return tuple(
        dict.fromkeys((*_made(tree), *(expression_sql(trees.ArrayQuery(q)) for q in lists)))
    )


def _is_own(query: trees.QueryTree, ctes: frozenset[str]) -> bool:
    """Whether it reads relations of the client's own alone, and nothing else could be in it."""
    every = tuple(parts(query, with_queries=True))
    tables = [one for one in every if isinstance(one, trees.TableInFrom)]
    calls = (one.name for one in every if isinstance(one, trees.Call))
    is_own = all(not one.schema and one.name not in ctes for one in tables)
    is_known = all(name in _FUNCTIONS for name in calls) and not unknown_relations(query)
    return bool(tables) and is_own and is_known


_NO_QUERY = trees.SelectTree((), False, (), (), (), None, (), False, None, (), trees.NO_ENDING)


def _made(tree: object) -> Iterator[str]:
    if isinstance(tree, trees.Quantified) and isinstance(tree.array, trees.ParameterName):
        yield expression_sql(tree.array)
    if isinstance(tree, trees.Tree) and is_made(tree):
        yield expression_sql(tree)
        return
    for one in children(tree):
        yield from _made(one)


def is_made(tree: trees.Tree) -> bool:
    """Whether it is computed of constants, and is none that is read as it stands."""
    return not _is_plain(tree) and _is_constant(tree)


def _is_plain(tree: trees.Tree) -> bool:
    match tree:
        case trees.Literal() | trees.ParameterName():
            return True
        case trees.CastTo(operand=trees.CastTo(operand=trees.Literal(is_text=True))):
            return False  # of a text's type, which PostgreSQL knows
        case trees.CastTo(operand=trees.Literal(value=str() as text, is_text=False), type=kind):
            return text.isdecimal() or kind.name not in ("smallint", "integer", "bigint")
        case trees.CastTo(operand=operand):
            return _is_plain(operand)
        case trees.OperatorTree(operator="-", operands=(trees.Literal(),)):
            return True
        case trees.ArrayOf(elements=elements):
            return all(map(_is_plain, elements))
        case _:
            return False


def _is_constant(tree: object) -> bool:
    match tree:
        case trees.ColumnName() | trees.SelectTree() | trees.SetTree() | trees.ValuesTree():
            return False
        case trees.Call(name=name) as call:
            plain = not (call.over or call.order or call.within or call.filter or call.is_star)
            if name not in _FUNCTIONS or not plain or call.is_distinct:
                return False
        case trees.SpecialWord(word=word):
            return word in _WORDS
        case trees.ScalarQuery(query=trees.SelectTree(items=((item, _),)) as query):
            # (SELECT constant), and no clause else.
            return query == replace(_NO_QUERY, items=query.items) and _is_constant(item)
        case trees.Literal() | trees.ParameterName() | trees.CastTo() | trees.OperatorTree():
            pass
        case trees.ArrayOf() | trees.NamedArgument():
            pass
        case _ if isinstance(tree, trees.Tree):
            return False
    return all(map(_is_constant, children(tree)))
