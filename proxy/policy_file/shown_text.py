"""The text of a policy without its connection string, and back: for administrators, and for the ledger."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

import yaml

from proxy.policy_file.yaml_positions import Entry, MappingNode, ScalarNode, compose

_KEPT = re.compile(r"a statement, SHA-256 [0-9a-f]{16}")
_VARIABLE_ALONE = re.compile(r"\s*\$\{[A-Za-z_][A-Za-z0-9_]*\}\s*")
_HIDDEN = "(a connection string, which is not shown)"
HIDDEN_LINE = f"source: {_HIDDEN}"
_ENDS = "\r\n"


def shown_text(text: str, source: str) -> str | None:
    """Replace the connection string, unless it is a variable alone.

    Args:
        text: Of a file. It may be no policy.
        source: The connection string of the policy in force, with its secrets.

    Returns:
        None where no line can be told to be free of it: the text is not sound YAML.

    >>> print(shown_text("dpproxy: 1\\nsource: host=db password=x\\ntables: {}\\n", ""))
    dpproxy: 1
    source: (a connection string, which is not shown)
    tables: {}
    <BLANKLINE>
    >>> shown_text("source: ${SHOP_DSN}\\n", "host=db")
    'source: ${SHOP_DSN}\\n'
    """
    root = _root(text)
    if root is None:
        return None
    lines = text.splitlines(keepends=True)
    entry = root.entries.get("source")
    if entry is not None and not (
        isinstance(entry.value, ScalarNode) and _VARIABLE_ALONE.fullmatch(entry.value.text)
    ):
        first, end = _lines_of(entry, root, len(lines))
        lines[first:end] = [f"{HIDDEN_LINE}\n"]
    shown = "".join(lines)
    return shown.replace(source, _HIDDEN) if source else shown


def kept_text(text: str, source: str) -> str:
    """Say the same again without comments, with a constant in place of the connection string.

    A digest stands in place of each published statement.

    Args:
        text: Of a policy that was read without a problem.
        source: Its connection string, which is left out wherever it stands.

    >>> print(kept_text("dpproxy: 1 # password=x\\nsource: 'host=db password=x'\\n", "host=db password=x"))
    dpproxy: 1
    source: (a connection string, which is not shown)
    <BLANKLINE>
    """
    return str(yaml.emit(_without_source(text, source), allow_unicode=True, width=10**9))


def _without_source(text: str, source: str) -> Iterator[yaml.Event]:
    """Give the events of what is kept."""
    # Of each open mapping the key whose value comes next, None before a key; "" of a list.
    open_keys: list[str | None] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            event.flow_style = False
            open_keys.append("" if isinstance(event, yaml.SequenceStartEvent) else None)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_keys.pop()
            _value_ended(open_keys)
        elif isinstance(event, yaml.ScalarEvent):
            event.implicit = (True, True)  # no tag: a policy has none
            match open_keys:
                case [*_, None]:
                    open_keys[-1] = event.value
                    if source and source in event.value:
                        event.value = event.value.replace(source, _HIDDEN)
                case ["source"]:
                    event.value, event.style = _HIDDEN, None
                    _value_ended(open_keys)
                case ["publish", "", "sql"]:
                    event.value, event.style = kept_statement(event.value), None
                    _value_ended(open_keys)
                case _:
                    if source and source in event.value:
                        event.value = event.value.replace(source, _HIDDEN)
                    _value_ended(open_keys)
        yield event


def _value_ended(open_keys: list[str | None]) -> None:
    if open_keys and open_keys[-1] != "":
        open_keys[-1] = None


def with_source(text: str, in_force: str) -> str:
    """Put the source of the policy in force where `shown_text` hides it. Any other text stays as it is.

    >>> with_source(f"{HIDDEN_LINE}\\ntables: {{}}\\n", "source: host=db\\n")
    'source: host=db\\ntables: {}\\n'
    >>> with_source(f"{HIDDEN_LINE}\\r\\ntables: {{}}\\n", "dpproxy: 1\\nsource: host=db")
    'source: host=db\\ntables: {}\\n'
    >>> with_source("source: host=other\\n", "source: host=db\\n")
    'source: host=other\\n'
    """
    root, served = _root(text), _root(in_force)
    entry = None if root is None else root.entries.get("source")
    own = None if served is None else served.entries.get("source")
    if entry is None or own is None or served is None or not isinstance(own.value, ScalarNode):
        return text
    lines, there = text.splitlines(keepends=True), in_force.splitlines(keepends=True)
    at = entry.key_at.line - 1
    if lines[at].rstrip(_ENDS) != HIDDEN_LINE:
        return text
    first, end = _lines_of(own, served, len(there))
    is_one = end - first == 1  # else its value on one line, so that problems keep their places
    stated = f"source: {json.dumps(own.value.text, ensure_ascii=False)}"
    lines[at] = f"{there[first].rstrip(_ENDS) if is_one else stated}\n"
    return "".join(lines)


def _root(text: str) -> MappingNode | None:
    root, problems = compose(text)
    return root if isinstance(root, MappingNode) and not problems else None


def _lines_of(entry: Entry, root: MappingNode, count: int) -> tuple[int, int]:
    """The lines of an entry with what follows it, up to the next one."""
    later = [
        one.key_at.line for one in root.entries.values() if one.key_at.line > entry.key_at.line
    ]
    return entry.key_at.line - 1, min(later, default=count + 1) - 1


def kept_statement(sql: str) -> str:
    """Give what the ledger keeps of a published statement: no literal of it is readable there.

    >>> kept = kept_statement("SELECT count(*) FROM s.t  WHERE name = 'x'")
    >>> kept, kept_statement(kept) == kept
    ('a statement, SHA-256 a0e9d0cf231d3319', True)
    """
    words = " ".join(sql.split())
    if _KEPT.fullmatch(words):
        return words
    return f"a statement, SHA-256 {hashlib.sha256(words.encode()).hexdigest()[:16]}"
