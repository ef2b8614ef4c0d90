"""What stands in a tree: aggregates, windows, subqueries, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from proxy.query.canonical import trees

AGGREGATES = frozenset(
    {
        *("count", "sum", "avg", "min", "max", "variance", "var_pop", "var_samp", "stddev"),
        *("stddev_pop", "stddev_samp", "corr", "covar_pop", "covar_samp", "regr_slope"),
        *("regr_intercept", "regr_r2", "percentile_cont", "percentile_disc", "bool_or"),
        *("bool_and", "every", "string_agg", "array_agg", "json_agg", "jsonb_agg", "mode"),
        *("bit_and", "bit_or", "bit_xor", "any_value", "regr_count", "regr_avgx", "regr_avgy"),
        *("regr_sxx", "regr_syy", "regr_sxy", "json_object_agg", "jsonb_object_agg", "xmlagg"),
        *("range_agg", "range_intersect_agg", "rank", "dense_rank", "percent_rank", "cume_dist"),
    }
)
_QUERIES = (trees.SelectTree, trees.SetTree, trees.ValuesTree)


def is_aggregate(tree: object) -> bool:
    """Whether it is a call of an aggregate, known here or refused."""
    return isinstance(tree, trees.Call) and tree.over is None and tree.name in AGGREGATES


_FIELDS: dict[type[Any], tuple[str, ...]] = {}


def _fields(node: object) -> tuple[str, ...]:
    """Names of the fields of a node; none of what is no node."""
    kind: type[Any] = node.__class__
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(one.name for one in fields(kind)) if is_dataclass(kind) else ()
    return _FIELDS[kind]


def children(tree: object) -> Iterator[object]:
    """What is directly in a node: trees, queries, items of FROM."""
    values = tree if isinstance(tree, tuple) else _values(tree)
    for value in values:
        if isinstance(value, tuple):
            yield from children(value)
        elif _fields(value):
            yield value


def _values(tree: object) -> Iterator[object]:
    return (getattr(tree, name) for name in _fields(tree))


def parts(tree: object, *, with_queries: bool = False) -> Iterator[object]:
    """The tree and all that is in it; queries, and what is in them, only if that is wanted."""
    if isinstance(tree, _QUERIES) and not with_queries:
        return
    if not isinstance(tree, tuple):
        yield tree
    for one in children(tree):
        yield from parts(one, with_queries=with_queries)


def has_aggregate(tree: object) -> bool:
    return any(map(is_aggregate, parts(tree)))


def has_window(tree: object) -> bool:
    calls = (part for part in parts(tree) if isinstance(part, trees.Call))
    return any(one.over is not None or one.name == "gen_random_uuid" for one in calls)


def subqueries(tree: object) -> Iterator[trees.QueryTree]:
    """Of the tree itself, in order; not those inside them."""
    for part in parts(tree):
        if isinstance(
            part, trees.InQuery | trees.ExistsQuery | trees.ScalarQuery | trees.ArrayQuery
        ):
            yield part.query


def unknown_relations(query: trees.QueryTree) -> frozenset[str]:
    """Aliases that a query names, and that are in no FROM clause in it."""
    every = tuple(parts(query, with_queries=True))
    named = {part.relation for part in every if isinstance(part, trees.ColumnName | trees.WholeRow)}
    items = (trees.TableInFrom, trees.QueryInFrom, trees.FunctionInFrom, trees.JoinInFrom)
    known = {part.alias for part in every if isinstance(part, items)}
    return frozenset(named - known - {""})


def names_table(query: trees.QueryTree, name: str) -> bool:
    """Whether a FROM clause in it has this name without a schema."""
    items = (one for one in parts(query, with_queries=True) if isinstance(one, trees.TableInFrom))
    return any(not one.schema and one.name == name for one in items)


def uncovered(
    tree: object, keys: tuple[trees.Tree, ...], whole: frozenset[str]
) -> Iterator[object]:
    """The parts of an expression that are neither keys nor inside an aggregate or a subquery.

    Args:
        whole: Names of calls that are given as wholes, as aggregates are.
    """
    if isinstance(tree, _QUERIES) or (isinstance(tree, trees.Tree) and tree in keys):
        return
    if not isinstance(tree, tuple):
        yield tree
    is_whole = isinstance(tree, trees.Call) and tree.name in whole
    if is_aggregate(tree) or is_whole or isinstance(tree, trees.GroupingOf):
        return
    for one in children(tree):
        yield from uncovered(one, keys, whole)


def rebuilt(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The node with each of its children changed."""
    if isinstance(tree, tuple):
        return tuple(_changed(one, change) for one in tree)
    values = {name: _changed(getattr(tree, name), change) for name in _fields(tree)}
    return tree.__class__(**values)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(one, change) for one in value)
    return change(value) if _fields(value) else value
