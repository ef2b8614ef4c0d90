"""The text of a policy as administrators are shown it: without its connection string."""

from __future__ import annotations

import re

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
