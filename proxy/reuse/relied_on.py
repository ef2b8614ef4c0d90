"""What an answer relies on beside its plan: the policy and the catalogue of its tables, and public values.

A change of any of them makes another question, so that nothing is answered by what no longer holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.query.ir.relations import scans
from proxy.reuse.canonical_form import CanonicalForm


class ReliedOn:
    """Digests of each table, made once for a policy and its catalogue."""

    def __init__(self, known: PlanningContext) -> None:
        self._tables = {
            name: _digest((_plain(known.policy.tables[name]), _plain(known.catalog.tables[name])))
            for name in known.policy.tables
            if name in known.catalog.tables
        }
        self._public = _digest(tuple(map(_plain, (known.public, known.rows, known.bounds))))

    def text(self, block: BlockPlan) -> str:
        names = sorted({scan.table for scan in scans(block.source)})
        return " ".join((*(self._tables[name] for name in names), self._public))


def _plain(part: object) -> object:
    """Mappings as their items, in order."""
    if isinstance(part, Mapping):
        return tuple(sorted(((_plain(k), _plain(v)) for k, v in part.items()), key=repr))
    if isinstance(part, tuple):
        return tuple(map(_plain, part))
    if is_dataclass(part) and not isinstance(part, type):
        return (type(part).__name__, *(_plain(getattr(part, f.name)) for f in fields(part)))
    return part


def _digest(part: object) -> str:
    return hashlib.sha256(CanonicalForm().text(part).encode()).hexdigest()[:32]
