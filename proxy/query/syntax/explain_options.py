"""The options of an EXPLAIN whose plan is ours: what PostgreSQL would refuse is refused in its words."""

from __future__ import annotations

from itertools import pairwise

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.query.syntax.statements import Statement, split_commas
from proxy.query.syntax.tokens import Lexeme, lex

# PostgreSQL 17 documentation, EXPLAIN. Those that ask for measurements have nothing to measure here.
_SWITCHES = frozenset(
    {
        *("analyze", "analyse", "verbose", "costs", "settings", "generic_plan", "buffers", "wal"),
        *("timing", "summary", "memory"),
    }
)
_BOOLEANS = frozenset({"true", "false", "on", "off", "0", "1"})
_SERIALIZED = frozenset({"none", "text", "binary"})
_EXPLAINED = frozenset({"select", "with", "values", "table", "insert", "update", "delete", "merge"})
_RUN_CODE = frozenset({"do", "call"})
_FORMATS = frozenset({"text", "json", "xml", "yaml"})


def check_options(statement: Statement) -> None:
    """
    Given    an EXPLAIN
    Refuses  SYNTAX, as PostgreSQL: an option or a value that there is not; UNSUPPORTED: XML and YAML
    """
    lexed = statement.lexed
    if lexed.lexemes[1].kind is not TokenType.L_PAREN or statement.first == 1:
        return
    for first, last in split_commas(lexed, 2, lexed.partner[1]):
        name, values = lexed.lexemes[first], lexed.lexemes[first + 1 : last]
        _check(name, values[0] if values else None)


def judging(text: str) -> str | None:
    """
    Given    a statement that means nothing protected, accepted by PostgreSQL
    Gives    what has PostgreSQL judge it, rights too, in a transaction that is undone: the EXPLAIN of what has
             a plan; a command itself. None of DO and CALL, which run whatever their text says
    """
    lexed = lex(text)
    if lexed is None:
        return None
    own = [x for x in lexed.lexemes if x.kind is not TokenType.SEMICOLON]
    words = [x.word for x in own if x.kind is not TokenType.L_PAREN]
    if not words:
        return text
    makes = words[0] == "create" and any(
        before == "as" and after in _EXPLAINED for before, after in pairwise(words)
    )
    has_plan = words[0] in _EXPLAINED or (makes and {"table", "materialized"} & {*words[1:4]})
    if has_plan:
        return f"EXPLAIN {text[own[0].start :]}"
    return None if words[0] in _RUN_CODE else text


def _check(name: Lexeme, value: Lexeme | None) -> None:
    # A name keeps its case where it is quoted, a value does not.
    given = "" if value is None else value.token.text.lower()
    if name.name == "format":
        _check_format(name, value, given)
    elif name.name == "serialize":
        if value is not None and given not in _SERIALIZED:
            raise _no_value(name, value, given)
    elif name.name not in _SWITCHES:
        raise Refusal(
            Code.SYNTAX,
            f'unrecognized EXPLAIN option "{name.name}"',
            "EXPLAIN SELECT ... alone shows what the statement would cost.",
            name.position,
        )
    elif value is not None and given not in _BOOLEANS:
        raise Refusal(
            Code.SYNTAX, f"{name.name} requires a Boolean value", "Write ON or OFF.", value.position
        )


def _check_format(name: Lexeme, value: Lexeme | None, given: str) -> None:
    if value is None:
        raise Refusal(Code.SYNTAX, "format requires a parameter", _FORMAT_HINT, name.position)
    if given not in _FORMATS:
        raise _no_value(name, value, given)
    if given not in ("text", "json"):
        raise Refusal(
            Code.UNSUPPORTED,
            f"the privacy plan is not available as {given.upper()}",
            _FORMAT_HINT,
            value.position,
        )


_FORMAT_HINT = "Use FORMAT TEXT or FORMAT JSON."


def _no_value(name: Lexeme, value: Lexeme, given: str) -> Refusal:
    hint = _FORMAT_HINT if name.name == "format" else "Use NONE, TEXT or BINARY."
    return Refusal(
        Code.SETTING,
        f'unrecognized value for EXPLAIN option "{name.name}": "{given}"',
        hint,
        value.position,
    )
