"""How time grows: `python -m tests.bench.growth` writes docs/site/growth.json, from which `make docs` draws.

Each axis is measured by itself, least of rounds in turn: rows, aggregates of a statement, groups, rows of a
unit, tables of a policy. `--rows` has more sizes of the large table: 100,000,000 rows take 20 GB and are kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docs.site.growth import AXES, Line, read_figures, write_figures
from proxy.postgres.embedded import EmbeddedPostgres
from tests.bench.measuring import Comparison, measure
from tests.bench.policies import GROWING_ROWS, served_growing
from tests.bench.scale import everything, run
from tests.bench.servers import Servers, servers
from tests.bench.starts import prepared, served, whole

_SIZES = (1_000_000, 3_000_000, 10_000_000)
_MANY = (1, 3, 10, 30, 64)  # more are refused
_GROUPS = (1, 10, 100, 1000, 10_000, 100_000)
_TABLES = (1, 10, 100, 500, 1000)
_SHAPES = 380
_OURS = "dpproxy"


class _Figures:
    """Seconds by line and place; with what is plain PostgreSQL's beside them."""

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}

    def add(self, name: str, at: int, seconds: float) -> None:
        self.lines.setdefault(name, []).append((at, round(seconds, 5)))
        print(f"    {at:>11,} {name:24} {seconds:9.3f} s", flush=True)

    def compare(
        self, at: int, names: Sequence[str], pairs: Sequence[Comparison], rounds: int
    ) -> None:
        """The first pair's plain side is drawn."""
        found = measure(pairs, rounds, 1, min)
        self.add("PostgreSQL", at, found[0].plain / 1000)
        for name, one in zip(names, found, strict=True):
            self.add(name, at, one.ours / 1000)


def _of_rows(running: Servers, at: int, rounds: int, figures: _Figures) -> None:
    text = everything("amount")
    bases = {"row unit": "events_by_row", "user unit, with index": "events_by_user"}
    pairs = [_pair(running, base, text) for base in bases.values()]
    figures.compare(at, list(bases), pairs, rounds)


def _of_aggregates(running: Servers, rounds: int) -> Mapping[str, Line]:
    figures = _Figures()
    for at in _MANY:
        asked = ", ".join(f"count(*) FILTER (WHERE seconds < {36 * n + 36})" for n in range(at))
        pair = _pair(running, "events_by_row", f"SELECT {asked} FROM bench.events")
        figures.compare(at, [_OURS], [pair], rounds)
    return figures.lines


def _of_groups(running: Servers, rows: int, rounds: int) -> Mapping[str, Line]:
    figures = _Figures()
    for at in _GROUPS:
        key = f"event_id / {max(rows // at, 1)}"
        text = f"SELECT {key} AS block, count(*) FROM bench.events GROUP BY {key}"
        figures.compare(at, [_OURS], [_pair(running, "events_by_row", text)], rounds)
    return figures.lines


def _of_rows_a_unit(running: Servers, rounds: int) -> Mapping[str, Line]:
    figures = _Figures()
    for at in GROWING_ROWS:
        pair = _pair(running, f"growing_{at}", "SELECT count(*), sum(amount) FROM bench.growing")
        figures.compare(at, [_OURS], [pair], rounds)
    return figures.lines


def _of_tables() -> Iterator[Mapping[str, Line]]:
    """What is there so far: the largest policy takes minutes."""
    figures = _Figures()
    with tempfile.TemporaryDirectory(prefix="dpproxy-growth-") as temporary:
        folder = Path(temporary)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        server = EmbeddedPostgres(folder / "source", "protected", durable=False)
        server.start()
        try:
            whole(["policy", "check", str(prepared(folder, server, 1, _SHAPES))])  # compiles
            for at in _TABLES:
                policy = prepared(folder, server, at, _SHAPES)
                figures.add("policy check", at, whole(["policy", "check", str(policy)]).processor)
                figures.add("serve", at, served(policy).processor)
                yield figures.lines
        finally:
            server.stop()


def _pair(running: Servers, database: str, text: str) -> Comparison:
    return Comparison("", run(running.plain(), text), run(running.proxied(database), text))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--state", type=Path, default=cache / "dpproxy-bench", help="%(default)s")
    parser.add_argument("--axes", nargs="*", default=list(AXES), choices=AXES)
    parser.add_argument("--rows", type=int, nargs="*", default=_SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures = read_figures()
    of_rows, first = _Figures(), True
    for rows in options.rows if set(options.axes) - {"tables"} else ():
        with servers(
            options.state, None, 32_000, rows, scale=True, policies=served_growing
        ) as running:
            print(f"{rows:,} rows, PostgreSQL {running.version}, load {os.getloadavg()[0]:.1f}")
            if "rows" in options.axes:
                _of_rows(running, rows, options.rounds, of_rows)
                figures["rows"] = of_rows.lines
            if first and "aggregates" in options.axes:
                figures["aggregates"] = _of_aggregates(running, options.rounds)
            if first and "rows_a_unit" in options.axes:
                figures["rows_a_unit"] = _of_rows_a_unit(running, options.rounds)
            if first and "groups" in options.axes:
                figures["groups"] = _of_groups(running, rows, options.rounds)
        first = False
        write_figures(figures)
    if "tables" in options.axes:
        print(f"Tables of 20 columns, seconds of processor, load {os.getloadavg()[0]:.1f}")
        for figures["tables"] in _of_tables():
            write_figures(figures)


if __name__ == "__main__":
    main()
