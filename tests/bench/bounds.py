"""Bounds on a unit that are chosen privately, beside a fixed bound: the same statement, through the proxy."""

from __future__ import annotations

from tests.bench.measuring import Bound, Comparison
from tests.bench.scale import run
from tests.bench.servers import Servers

_ASKED = ("count(*)", "sum(amount)", "avg(amount)", "count(*), sum(amount), avg(amount)")
_WITHOUT, _WITH = Bound(ratio=1.3), Bound(ratio=2.2)


def chosen_bounds(servers: Servers) -> list[Comparison]:
    found = []
    for asked in _ASKED:
        for what, head, tail, bound in (
            ("", "", "", _WITHOUT),
            (" by 20 keys", "country, ", " GROUP BY country", _WITH),
        ):
            text = f"SELECT {head}{asked} FROM bench.events{tail}"
            fixed, chosen = (
                run(servers.proxied(database), text) for database in ("events_fixed", "events_auto")
            )
            found.append(Comparison(f"{asked}{what}", fixed, chosen, bound))
    return found
