"""The text of a policy without its connection string: for administrators, and for the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from proxy.policy_file.yaml_positions import MappingNode, ScalarNode, compose

_VARIABLE_ALONE = re.compile(r"\s*\$\{[A-Za-z_][A-Za-z0-9_]*\}\s*")
_HIDDEN = "(a connection string, which is not shown)"


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
    root, problems = compose(text)
    if problems or not isinstance(root, MappingNode):
        return None
    lines = text.splitlines(keepends=True)
    entry = root.entries.get("source")
    if entry is not None:
        value = entry.value
        if not (isinstance(value, ScalarNode) and _VARIABLE_ALONE.fullmatch(value.text)):
            later = [
                one.key_at.line
                for one in root.entries.values()
                if one.key_at.line > entry.key_at.line
            ]
            first, end = entry.key_at.line - 1, min(later, default=len(lines) + 1) - 1
            lines[first:end] = [f"source: {_HIDDEN}\n"]
    shown = "".join(lines)
    return shown.replace(source, _HIDDEN) if source else shown


def kept_text(text: str, source: str) -> str:
    """Say the same again without comments, and with a constant in place of the connection string.

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
    depth, is_source, is_key = 0, False, True
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth, event.flow_style = depth + 1, False
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.ScalarEvent):
            event.implicit = (True, True)  # no tag: a policy has none
            if is_source and not is_key:
                event.value, event.style = _HIDDEN, None
            elif source and source in event.value:
                event.value = event.value.replace(source, _HIDDEN)
            is_source = depth == 1 and is_key and event.value == "source"
        if depth == 1 and isinstance(event, yaml.ScalarEvent | yaml.CollectionEndEvent):
            is_key = not is_key
        yield event
