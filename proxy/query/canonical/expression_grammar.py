"""Expressions of canonical text, as trees. Every operator stands in brackets, so there is no precedence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from proxy.base import limits
from proxy.base.written_names import written_name
from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import CanonicalToken, TokenKind, tokens_of, unread
from proxy.query.syntax.tokens import too_complex

_Item = TypeVar("_Item")

_SPECIAL = frozenset(
    {
        *("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIMESTAMP", "LOCALTIME"),
        *("CURRENT_USER", "SESSION_USER", "CURRENT_ROLE", "USER", "CURRENT_SCHEMA"),
        "CURRENT_CATALOG",
    }
)
_SPELLED = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "POSITION", "OVERLAY", "NORMALIZE"})
_BETWEEN = ("FROM", "FOR", "IN", "PLACING", ",")
_SIDES = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}
_TESTS = {"NULL": None, "UNKNOWN": None, "TRUE": True, "FALSE": False}
_QUERY = ("SELECT", "WITH", "VALUES")
_WORDS = (TokenKind.NAME, TokenKind.SYMBOL)
_OF_FRAMES = (TokenKind.NAME, TokenKind.NUMBER)
_INTERVAL_FIELDS = ("year", "month", "day", "hour", "minute", "second", "to")
_OTHER_CALLS = {"POSITION": "strpos"}


class ExpressionParser(ABC):
    """Reads the tokens of one text from the left to the right."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        # Of keywords and symbols the words, of everything else none.
        self._words = [one.word if one.kind in _WORDS else "" for one in self._tokens]
        self._at = 0
        self._depth = 0

    # Tokens

    @property
    def _token(self) -> CanonicalToken:
        return self._tokens[self._at]

    def _ahead(self, *words: str) -> bool:
        """Whether these words come next. A quoted name is no word."""
        at = self._at
        return self._words[at] == words[0] and self._words[at : at + len(words)] == list(words)

    def _is_one_of(self, *words: str) -> bool:
        return self._words[self._at] in words

    def _take(self, *words: str) -> bool:
        if not self._ahead(*words):
            return False
        self._at += len(words)
        return True

    def _need(self, *words: str) -> None:
        if not self._take(*words):
            raise unread("this form of a statement")

    def _name(self) -> str:
        token = self._token
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED):
            raise unread("this form of a name")
        self._at += 1
        return token.word

    def _names(self) -> tuple[str, ...]:
        return self._until(")", self._name)

    def _until(self, end: str, read: Callable[[], _Item]) -> tuple[_Item, ...]:
        """What stands between commas, up to the symbol that ends it."""
        found = [] if self._ahead(end) else list(self._listed(read))
        self._need(end)
        return tuple(found)

    def _listed(self, read: Callable[[], _Item]) -> tuple[_Item, ...]:
        found = [read()]
        while self._take(","):
            found.append(read())
        return tuple(found)

    @abstractmethod
    def _query(self) -> trees.QueryTree: ...

    def _inner_query(self) -> trees.QueryTree:
        query = self._query()
        self._need(")")
        return query

    # Expressions

    def _expression(self) -> trees.Tree:
        self._depth += 1
        if self._depth > limits.EXPRESSION_DEPTH:
            raise too_complex(f"of expressions deeper than {limits.EXPRESSION_DEPTH} operations")
        found = self._primary()
        while True:
            if self._take("::"):
                found = trees.CastTo(found, self._type())
            elif self._take("["):
                place = self._expression()
                self._need("]")
                found = trees.Subscript(found, place)
            elif self._ahead(".") and not isinstance(found, trees.ColumnName):
                self._at += 1
                found = trees.FieldOf(found, self._name())
            else:
                self._depth -= 1
                return found

    def _primary(self) -> trees.Tree:
        token = self._token
        match token.kind:
            case TokenKind.TEXT:
                self._at += 1
                return _text(token.word)
            case TokenKind.NUMBER:
                self._at += 1
                return trees.Literal(token.word)
            case TokenKind.PARAMETER:
                self._at += 1
                return trees.ParameterName(int(token.word[1:]))
            case TokenKind.SYMBOL if token.word == "(":
                return self._bracket()
            case TokenKind.NAME:
                word = self._word()
                if word is not None:
                    return word
            case TokenKind.QUOTED:
                pass
            case _:
                raise unread(f"the symbol {token.word}")
        chain = [self._name()]
        while self._take("."):
            if self._take("*"):
                return trees.WholeRow(chain[-1])
            chain.append(self._name())
        if self._ahead("("):
            return self._call(".".join(chain), token.start)
        if len(chain) > 2:
            raise unread("a name of three parts")
        return trees.ColumnName(chain[0] if len(chain) == 2 else "", chain[-1], token.start)

    def _word(self) -> trees.Tree | None:
        """What begins with a keyword; None: it is a name."""
        word = self._token.word
        if word in ("true", "false") and self._tokens[self._at + 1].word != ".":
            self._at += 1
            return trees.Literal(word == "true")
        if not word.isupper():
            return None
        is_call = self._tokens[self._at + 1].word == "("
        if word == "NULL":
            self._at += 1
            return trees.Literal(None)
        if self._take("CASE"):
            return self._case()
        if self._take("ARRAY", "["):
            return trees.ArrayOf(self._until("]", self._expression))
        if self._take("ARRAY", "("):
            return trees.ArrayQuery(self._inner_query())
        if self._take("ROW", "("):
            return trees.RowOf(self._until(")", self._expression), is_explicit=True)
        if self._take("EXISTS", "("):
            return trees.ExistsQuery(self._inner_query())
        if self._take("GROUPING", "("):
            return trees.GroupingOf(self._until(")", self._expression))
        if word in _SPECIAL:
            self._at += 1
            if self._take("("):
                raise unread(f"{word} with a precision")
            return trees.SpecialWord(word)
        if word in _SPELLED and is_call:
            return self._spelled()
        return None

    def _call(self, name: str, start: int) -> trees.Call:
        self._need("(")
        is_star = self._take("*")
        is_distinct = self._take("DISTINCT")
        arguments: tuple[trees.Tree, ...] = ()
        order: tuple[trees.OrderBy, ...] = ()
        if not (is_star or self._is_one_of(")", "ORDER")):
            arguments = self._listed(self._argument)
        if self._take("ORDER", "BY"):
            order = self._ordered()
        self._need(")")
        within: tuple[trees.OrderBy, ...] = ()
        if self._take("WITHIN", "GROUP", "(", "ORDER", "BY"):
            within = self._ordered()
            self._need(")")
        condition = None
        if self._take("FILTER", "(", "WHERE"):
            condition = self._expression()
            self._need(")")
        over: trees.WindowOf | str | None = None
        if self._take("OVER"):
            over = self._window() if self._ahead("(") else self._name()
        return trees.Call(
            name, arguments, is_star, is_distinct, order, within, condition, over, start
        )

    def _argument(self) -> trees.Tree:
        if self._take("VARIADIC"):
            return trees.NamedArgument("VARIADIC", self._expression())
        if self._tokens[self._at + 1].word == "=>":
            name = self._name()
            self._need("=>")
            return trees.NamedArgument(name, self._expression())
        return self._expression()

    def _ordered(self) -> tuple[trees.OrderBy, ...]:
        return self._listed(self._order_term)

    def _order_term(self) -> trees.OrderBy:
        operand = self._expression()
        is_descending = self._take("DESC")
        if self._is_one_of("USING"):
            raise unread("ORDER BY USING")
        nulls = None
        if self._take("NULLS"):
            nulls = self._name() == "FIRST"
        return trees.OrderBy(operand, is_descending, nulls)

    def _window(self) -> trees.WindowOf:
        self._need("(")
        name = ""
        partition: tuple[trees.Tree, ...] = ()
        order: tuple[trees.OrderBy, ...] = ()
        if not self._is_one_of("PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS", ")"):
            name = self._name()
        if self._take("PARTITION", "BY"):
            partition = self._listed(self._expression)
        if self._take("ORDER", "BY"):
            order = self._ordered()
        frame: list[str] = []
        while not self._take(")"):
            if self._token.kind not in _OF_FRAMES:
                raise unread("this frame of a window")
            frame.append(self._token.word)
            self._at += 1
        return trees.WindowOf(name, partition, order, " ".join(frame))

    def _spelled(self) -> trees.Call:
        """A function with words between its arguments."""
        start = self._token.start
        word = self._name()
        self._need("(")
        if word == "EXTRACT":
            field = self._token
            self._at += 1
            given = (
                _text(field.word)
                if field.kind is TokenKind.TEXT
                else trees.Literal(field.word, True)
            )
            self._need("FROM")
            operand = self._expression()
            self._need(")")
            return trees.Call("extract", (given, operand), start=start)
        if word == "TRIM":
            side = _SIDES[self._name()]
            characters = () if self._ahead("FROM") else (self._expression(),)
            self._need("FROM")
            operand = self._expression()
            self._need(")")
            return trees.Call(side, (operand, *characters), start=start)
        arguments = [self._expression()]
        while not self._take(")"):
            if not any(self._take(between) for between in _BETWEEN):
                raise unread(f"this form of {word}")
            arguments.append(self._expression())
        if word == "POSITION":
            arguments.reverse()
        return trees.Call(_OTHER_CALLS.get(word, word.lower()), tuple(arguments), start=start)

    def _case(self) -> trees.CaseOf:
        subject = None if self._ahead("WHEN") else self._expression()
        whens: list[tuple[trees.Tree, trees.Tree]] = []
        while self._take("WHEN"):
            condition = self._expression()
            self._need("THEN")
            whens.append((condition, self._expression()))
        otherwise = self._expression() if self._take("ELSE") else None
        self._need("END")
        return trees.CaseOf(subject, tuple(whens), otherwise)

    def _bracket(self) -> trees.Tree:
        self._need("(")
        if self._is_one_of(*_QUERY):
            return trees.ScalarQuery(self._inner_query())
        if self._take("NOT"):
            found: trees.Tree = trees.Negation(self._expression())
        elif self._token.kind is TokenKind.SYMBOL and self._token.word != "(":
            operator = self._token.word
            self._at += 1
            found = trees.OperatorTree(operator, (self._expression(),))
        else:
            found = self._behind(self._expression())
        if isinstance(found, trees.RowOf):
            return found
        self._need(")")
        return found

    def _behind(self, left: trees.Tree) -> trees.Tree:
        """What an operand in brackets is part of."""
        token = self._token
        if self._ahead(")"):
            return left
        if self._is_one_of("AND", "OR"):
            operands = [left]
            while self._take(token.word):
                operands.append(self._expression())
            return trees.Junction(token.word, tuple(operands))
        if self._take("IS"):
            return self._test(left)
        if self._take("IN", "("):
            return trees.InQuery(left, self._inner_query())
        if self._take("COLLATE"):
            return trees.Collated(left, self._name())
        if self._take("AT", "TIME", "ZONE"):
            return trees.Call("timezone", (self._expression(), left), start=token.start)
        if self._take(","):
            return trees.RowOf((left, *self._until(")", self._expression)))
        if token.kind is TokenKind.SYMBOL:
            self._at += 1
            return self._operation(left, token.word)
        raise unread(f"{token.word} in this place")

    def _operation(self, left: trees.Tree, operator: str) -> trees.Tree:
        if not self._is_one_of("ANY", "ALL"):
            return trees.OperatorTree(operator, (left, self._expression()))
        is_all = self._name() == "ALL"
        self._need("(")
        if self._is_one_of(*_QUERY):
            array: trees.Tree = trees.ScalarQuery(self._query())
        else:
            array = self._expression()
        self._need(")")
        return trees.Quantified(operator, left, array, is_all)

    def _test(self, left: trees.Tree) -> trees.Tree:
        is_not = self._take("NOT")
        if self._take("DISTINCT", "FROM"):
            return _negated(
                trees.OperatorTree("IS DISTINCT FROM", (left, self._expression())), is_not
            )
        word = self._name()
        if word not in _TESTS:
            raise unread(f"IS {word}")
        return _negated(trees.TruthTest(left, _TESTS[word]), is_not)

    # Types

    def _type(self) -> trees.TypeTree:
        token = self._token
        name = self._name()
        if token.kind is TokenKind.QUOTED and not self._ahead("."):
            name = f'"{name}"'
        chain = [name]
        while self._take("."):
            chain.append(self._name())
        if len(chain) > 1:
            name = written_name(*chain)
        modifier: tuple[str, ...] = ()
        fields = ""
        if token.kind is TokenKind.NAME:
            if name == "double":
                self._need("precision")
                name = "double precision"
            elif name in ("character", "bit") and self._take("varying"):
                name += " varying"
            while name == "interval" and self._is_one_of(*_INTERVAL_FIELDS):
                fields += f" {self._name()}"
        if self._take("("):
            modifier = self._until(")", self._number)
        if token.kind is TokenKind.NAME and name in ("time", "timestamp"):
            is_with = self._take("with")
            if not is_with:
                self._need("without")
            self._need("time", "zone")
            name += f" {'with' if is_with else 'without'} time zone"
        while self._take("[", "]"):
            name += "[]"
        return trees.TypeTree(name, modifier, fields.strip())

    def _number(self) -> str:
        token = self._token
        if token.kind is not TokenKind.NUMBER:
            raise unread("this modifier of a type")
        self._at += 1
        return token.word


def _text(word: str) -> trees.Literal:
    if word[0] != "'":
        raise unread("a bit string")
    return trees.Literal(word[1:-1].replace("''", "'"), is_text=True)


def _negated(tree: trees.Tree, is_not: bool) -> trees.Tree:
    return trees.Negation(tree) if is_not else tree
