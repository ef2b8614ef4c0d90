"""Queries and FROM clauses of canonical text, as trees."""

from __future__ import annotations

from dataclasses import replace

from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import TokenKind, unread
from proxy.query.canonical.expression_grammar import ExpressionParser
from proxy.query.syntax.tokens import too_complex

# Words that begin a clause, so that no alias is one of them.
_CLAUSES = frozenset(
    {
        *("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "OFFSET", "LIMIT", "FETCH", "FOR"),
        *("UNION", "INTERSECT", "EXCEPT", "ON", "USING", "JOIN", "LEFT", "RIGHT", "FULL", "CROSS"),
        *("INNER", "TABLESAMPLE", "AS", "RETURNING"),
    }
)
_SETS = ("UNION", "INTERSECT", "EXCEPT")
_JOINS = ("CROSS", "LEFT", "RIGHT", "FULL")


def parse_canonical(text: str) -> trees.QueryTree:
    """Parse one query.

    Raises:
        Refusal: UNSUPPORTED: a form that is not known, or more than one statement; TOO_COMPLEX.
    """
    try:
        return _QueryParser(text).statement()
    except IndexError:
        raise unread("an unfinished statement") from None
    except RecursionError:
        raise too_complex("nested this deeply") from None


class _QueryParser(ExpressionParser):
    def statement(self) -> trees.QueryTree:
        query = self._query()
        if self._token.kind is not TokenKind.END:
            raise unread("more than one query in a statement")
        return query

    def _query(self) -> trees.QueryTree:
        ctes = self._ctes() if self._take("WITH") else ()
        found = self._part()
        while self._is_one_of(*_SETS):
            operator = self._name() + (" ALL" if self._take("ALL") else "")
            found = _combined(operator, found, self._part())
        ending = self._ending()
        if self._ahead("FOR"):
            raise unread("FOR UPDATE")
        return _completed(found, ctes, ending)

    def _ctes(self) -> tuple[trees.CteTree, ...]:
        is_recursive = self._take("RECURSIVE")
        return self._listed(lambda: self._cte(is_recursive))

    def _cte(self, is_recursive: bool) -> trees.CteTree:
        name = self._name()
        columns = self._names() if self._take("(") else ()
        self._need("AS")
        self._take("NOT")
        self._take("MATERIALIZED")
        self._need("(")
        return trees.CteTree(name, columns, self._inner_query(), is_recursive)

    def _ending(self) -> trees.Ending:
        order = self._ordered() if self._take("ORDER", "BY") else ()
        offset = self._expression() if self._take("OFFSET") else None
        limit, has_ties = None, False
        if self._take("LIMIT"):
            limit = self._expression()
        elif self._take("FETCH", "FIRST"):
            limit, has_ties = self._expression(), True
            self._need("ROWS", "WITH", "TIES")
        return trees.Ending(order, limit, offset, has_ties)

    def _part(self) -> trees.QueryTree:
        if self._take("("):
            return self._inner_query()
        if self._take("VALUES"):
            return trees.ValuesTree((), self._listed(self._row), trees.NO_ENDING)
        self._need("SELECT")
        is_distinct = self._take("DISTINCT")
        on: tuple[trees.Tree, ...] = ()
        if is_distinct and self._take("ON", "("):
            on = self._until(")", self._expression)
        at_end = self._is_one_of(*_CLAUSES, ")") or self._token.kind is TokenKind.END
        items = () if at_end else self._listed(self._item)
        source = self._listed(self._from_item) if self._take("FROM") else ()
        where = self._expression() if self._take("WHERE") else None
        group: tuple[trees.GroupItem, ...] = ()
        is_group_distinct = False
        if self._take("GROUP", "BY"):
            is_group_distinct = self._take("DISTINCT")
            group = self._listed(self._group_item)
        having = self._expression() if self._take("HAVING") else None
        windows = self._listed(self._named_window) if self._take("WINDOW") else ()
        return trees.SelectTree(
            (),
            is_distinct,
            on,
            items,
            source,
            where,
            group,
            is_group_distinct,
            having,
            windows,
            trees.NO_ENDING,
        )

    def _row(self) -> tuple[trees.Tree, ...]:
        self._need("(")
        return self._until(")", self._expression)

    def _item(self) -> tuple[trees.Tree, str]:
        expression = self._expression()
        return expression, self._name() if self._take("AS") else ""

    def _named_window(self) -> tuple[str, trees.WindowOf]:
        name = self._name()
        self._need("AS")
        return name, self._window()

    def _group_item(self) -> trees.GroupItem:
        for words in (("GROUPING", "SETS"), ("ROLLUP",), ("CUBE",)):
            if self._take(*words, "("):
                return trees.GroupingSets(" ".join(words), self._until(")", self._group_item))
        if self._take("(", ")"):
            return trees.RowOf(())
        return self._expression()

    def _from_item(self) -> trees.FromItem:
        is_lateral = self._take("LATERAL")
        if self._ahead("("):
            return self._in_brackets(is_lateral)
        self._take("ONLY")
        chain = [self._name()]
        while self._take("."):
            chain.append(self._name())
        if self._ahead("("):
            call = self._call(".".join(chain), self._token.start)
            alias, columns = self._alias()
            return trees.FunctionInFrom(call, alias or chain[-1], columns)
        alias, columns = self._alias()
        if self._ahead("TABLESAMPLE"):
            raise unread("TABLESAMPLE")
        if len(chain) > 2:
            raise unread("a name of three parts")
        return trees.TableInFrom(
            chain[0] if len(chain) == 2 else "", chain[-1], alias or chain[-1], columns
        )

    def _in_brackets(self, is_lateral: bool) -> trees.FromItem:
        """A subquery, or a join."""
        self._need("(")
        depth = self._at
        while self._tokens[depth].word == "(" and self._tokens[depth].kind is TokenKind.SYMBOL:
            depth += 1
        first = self._tokens[depth]
        is_query = first.kind is TokenKind.NAME and first.word in ("SELECT", "WITH", "VALUES")
        if is_query and self._is_set_or_query(depth):
            query = self._inner_query()
            alias, columns = self._alias()
            return trees.QueryInFrom(query, alias, columns, is_lateral)
        left = self._from_item()
        while not self._take(")"):
            left = self._join(left)
        return left

    def _is_set_or_query(self, first: int) -> bool:
        """Whether brackets before a SELECT are those of a query. Those of a join end with an alias and JOIN."""
        if first == self._at:
            return True
        depth, at = 1, self._at + 1
        while depth:
            token = self._tokens[at]
            if token.kind is TokenKind.SYMBOL:
                depth += (token.word == "(") - (token.word == ")")
            at += 1
        following = self._tokens[at]
        return following.word in (*_SETS, ")", "ORDER", "LIMIT", "OFFSET", "FETCH") and (
            following.kind is not TokenKind.QUOTED
        )

    def _join(self, left: trees.FromItem) -> trees.JoinInFrom:
        kind = next((word for word in _JOINS if self._take(word)), "INNER")
        self._need("JOIN")
        right = self._from_item()
        on, alias = None, ""
        using: tuple[str, ...] = ()
        if self._take("ON"):
            on = self._expression()
        elif self._take("USING", "("):
            using = self._names()
            alias = self._name() if self._take("AS") else ""
        return trees.JoinInFrom(kind, left, right, on, using, alias)

    def _alias(self) -> tuple[str, tuple[str, ...]]:
        token = self._token
        is_name = token.kind is TokenKind.NAME and token.word not in _CLAUSES
        if token.kind is not TokenKind.QUOTED and not is_name:
            return "", ()
        return self._name(), self._names() if self._take("(") else ()


def _combined(operator: str, left: trees.QueryTree, right: trees.QueryTree) -> trees.SetTree:
    """UNION ALL of several parts is one."""
    is_one = isinstance(left, trees.SetTree) and left.operator == operator == "UNION ALL"
    if (
        is_one
        and isinstance(left, trees.SetTree)
        and left.ending == trees.NO_ENDING
        and not left.ctes
    ):
        return trees.SetTree((), operator, (*left.parts, right), trees.NO_ENDING)
    return trees.SetTree((), operator, (left, right), trees.NO_ENDING)


def _completed(
    query: trees.QueryTree, ctes: tuple[trees.CteTree, ...], ending: trees.Ending
) -> trees.QueryTree:
    if query.ctes and ctes:
        raise unread("WITH in brackets beside another one")
    if ending != trees.NO_ENDING and query.ending != trees.NO_ENDING:
        raise unread("LIMIT or ORDER BY around brackets that have one")
    return replace(
        query,
        ctes=ctes or query.ctes,
        ending=query.ending if ending == trees.NO_ENDING else ending,
    )
