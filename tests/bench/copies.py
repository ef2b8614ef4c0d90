"""Questions about ten million rows by user, from a prepared copy and from the table, beside plain PostgreSQL.
`python -m tests.bench.copies --rounds 5`"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg.errors import Diagnostic

from tests.bench.measuring import Bound, Comparison, measure, table
from tests.bench.policies import served_copies
from tests.bench.scale import everything, run
from tests.bench.servers import Servers, servers

_ROWS = 10_000_000
_DATABASE = "events_copied"
_NO_BOUND, _FIVE, _BY_KEYS = Bound(), Bound(ratio=1.3), Bound(ratio=1)
_GOALS = {
    "five aggregates, numeric": (everything("amount"), _FIVE),
    "five aggregates, integer": (everything("seconds"), _FIVE),
    "count, sum by 20 keys": (
        "SELECT country, count(*), sum(amount) FROM bench.events GROUP BY country",
        _BY_KEYS,
    ),
}
_OTHERS = {
    "sum by 20 keys": "SELECT country, sum(amount) FROM bench.events GROUP BY country",
    "count, sum, avg, numeric": "SELECT count(*), sum(amount), avg(amount) FROM bench.events",
    "count, sum, avg, integer": "SELECT count(*), sum(seconds), avg(seconds) FROM bench.events",
    "count": "SELECT count(*) FROM bench.events",
}


def goals_of_copies(running: Servers) -> list[Comparison]:
    """Answers of a prepared copy that have a goal."""
    return [
        _compared(running, f"{what}, prepared copy", text, "on", bound)
        for what, (text, bound) in _GOALS.items()
    ]


def _all(running: Servers) -> list[Comparison]:
    others = [
        _compared(running, f"{what}, prepared copy", text, "on") for what, text in _OTHERS.items()
    ]
    without = [
        _compared(running, f"{what}, table", text, "off") for what, (text, _) in _GOALS.items()
    ]
    return [*goals_of_copies(running), *others, *without]


def _compared(
    running: Servers, what: str, text: str, prepared: str, bound: Bound = _NO_BOUND
) -> Comparison:
    ours = running.proxied(_DATABASE)
    ours.execute(f"SET dp.prepared = {prepared}".encode())
    if is_of_copy(ours, text) is not (prepared == "on"):
        raise SystemExit(f"{what}: the answer is of something else; ask `dpproxy doctor` why")
    return Comparison(what, run(running.plain(), text), run(ours, text), bound)


def is_of_copy(connection: psycopg.Connection, text: str) -> bool:
    """Whether a notice says so of an answer."""
    told: list[str] = []

    def tell(notice: Diagnostic) -> None:
        told.append(notice.message_primary or "")

    connection.add_notice_handler(tell)
    connection.execute(text.encode())
    connection.remove_notice_handler(tell)
    return any("prepared copy, as of" in one for one in told)


def _sizes(running: Servers) -> Sequence[int]:
    with running.plain() as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM bench.events), (SELECT count(*) FROM dp.events)"
        ).fetchone()
    assert row is not None
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.copies", description=__doc__)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--state", type=Path, default=cache / "dpproxy-bench", help="%(default)s")
    parser.add_argument("--rows", type=int, default=_ROWS)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with servers(
        options.state, None, 32_000, options.rows, scale=False, policies=served_copies
    ) as running:
        of_table, of_copy = _sizes(running)
        print(f"{of_copy:,} of {of_table:,} rows are in the copy.")
        print(f"Least of {options.rounds} rounds in turn, load {os.getloadavg()[0]:.1f}:")
        print(table(measure(_all(running), options.rounds, 1, min)))
        print(f"At the end: load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
