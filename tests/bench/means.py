"""Means about noisy centres by keys, beside a number and a sum of the same values with the same fixed bound:
that was the statement of a mean before (ADR 0092)."""

from __future__ import annotations

from tests.bench.measuring import Bound, Comparison
from tests.bench.scale import run
from tests.bench.servers import Servers

_BEFORE = "count(amount), sum(amount)"
_ASKED = ("avg(amount)", "count(*), sum(amount), avg(amount)")
_BOUND = Bound(ratio=1.5)


def means_by_keys(servers: Servers) -> list[Comparison]:
    connection = servers.proxied("events_fixed")
    before = run(connection, _by_keys(_BEFORE))
    return [
        Comparison(f"mean: {asked} by 20 keys", before, run(connection, _by_keys(asked)), _BOUND)
        for asked in _ASKED
    ]


def _by_keys(asked: str) -> str:
    return f"SELECT country, {asked} FROM bench.events GROUP BY country"
