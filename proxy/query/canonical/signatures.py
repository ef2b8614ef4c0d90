"""Tables of functions and operators by name and argument types, as `regprocedure` writes them: lower(text).

What is in no table is refused. A builder gets the values of the arguments and makes the typed expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.values import TypedValue

Builder = Callable[[Sequence[TypedValue]], TypedValue]
Signatures = Mapping[str, Builder]


def signature(name: str, arguments: Sequence[TypedValue]) -> str:
    return f"{name}({','.join(one.kind for one in arguments)})"


def build(table: Signatures, name: str, arguments: Sequence[TypedValue]) -> TypedValue:
    """
    Raises:
        Refusal: UNSUPPORTED: no function of this name takes arguments of these types here.
    """
    written = signature(name, arguments)
    builder = table.get(written)
    if builder is None:
        raise unread(written)
    return builder(arguments)


def overloads(name: str, types: Sequence[Sequence[str]], builder: Builder) -> dict[str, Builder]:
    """One builder for several lists of argument types."""
    return {f"{name}({','.join(one)})": builder for one in types}
