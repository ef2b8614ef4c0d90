"""What stands in a tree: aggregates, windows, subqueries, names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from proxy.query.canonical.trees import (
    ArrayQuery,
    Call,
    ColumnName,
    ExistsQuery,
    InQuery,
    QueryItem,
    QueryTree,
    ScalarQuery,
    SelectTree,
    SetTree,
    TableItem,
    Tree,
    ValuesTree,
)

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
_QUERIES = (SelectTree, SetTree, ValuesTree)


def is_aggregate(tree: object) -> bool:
    """Whether it is a call of an aggregate, known here or refused."""
    return isinstance(tree, Call) and tree.over is None and tree.name in AGGREGATES


def children(tree: object) -> Iterator[object]:
    """What is directly in a node: trees, queries, items of FROM."""
    if isinstance(tree, tuple):
        for one in tree:
            if isinstance(one, tuple):
                yield from children(one)
            elif is_dataclass(one):
                yield one
    elif is_dataclass(tree):
        for field in fields(tree):
            value = getattr(tree, field.name)
            if isinstance(value, tuple):
                yield from children(value)
            elif is_dataclass(value):
                yield value


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
    calls = (part for part in parts(tree) if isinstance(part, Call))
    return any(one.over is not None or one.name == "gen_random_uuid" for one in calls)


def subqueries(tree: object) -> Iterator[QueryTree]:
    """Of the tree itself, in order; not those inside them."""
    for part in parts(tree):
        if isinstance(part, InQuery | ExistsQuery | ScalarQuery | ArrayQuery):
            yield part.query


def unknown_relations(query: QueryTree) -> frozenset[str]:
    """Aliases that a query names, and that are in no FROM clause in it."""
    every = tuple(parts(query, with_queries=True))
    named = {part.relation for part in every if isinstance(part, ColumnName)}
    known = {part.alias for part in every if isinstance(part, TableItem | QueryItem)}
    return frozenset(named - known - {""})


def names_table(query: QueryTree, name: str) -> bool:
    """Whether a FROM clause in it has this name without a schema."""
    items = (one for one in parts(query, with_queries=True) if isinstance(one, TableItem))
    return any(not one.schema and one.name == name for one in items)


def bare(tree: Tree) -> Tree:
    """The tree without places, so that the same words are the same."""
    found = _bare(tree)
    assert isinstance(found, Tree)
    return found


def _bare(tree: object) -> object:
    if isinstance(tree, tuple):
        return tuple(map(_bare, tree))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed = {field.name: _bare(getattr(tree, field.name)) for field in fields(tree)}
    if "start" in changed:
        changed["start"] = -1
    return replace(tree, **changed)


def uncovered(tree: object, keys: tuple[Tree, ...], whole: frozenset[str]) -> Iterator[object]:
    """The parts of an expression that are neither keys nor inside an aggregate or a subquery.

    Args:
        keys: Without places.
        whole: Names of calls that are given as wholes, as aggregates are.
    """
    if isinstance(tree, _QUERIES) or (isinstance(tree, Tree) and bare(tree) in keys):
        return
    if not isinstance(tree, tuple):
        yield tree
    if is_aggregate(tree) or (isinstance(tree, Call) and tree.name in whole):
        return
    for one in children(tree):
        yield from uncovered(one, keys, whole)
