"""`make bench`: what the proxy costs in time beside the same question on plain PostgreSQL."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from tests.bench.awake import awake
from tests.bench.bounds import chosen_bounds
from tests.bench.goals import Effort, goals_table, outcomes
from tests.bench.kept import canonicalising, durable_commits, kept_answers
from tests.bench.latency import latency
from tests.bench.means import means_by_keys
from tests.bench.measuring import measure, table
from tests.bench.policies import served_with_copies
from tests.bench.relaying import Throughput, missing, relaying, throughput_table
from tests.bench.scale import many_groups, same_question, scale
from tests.bench.servers import Servers, servers
from tests.bench.stages import commit_times, durable_commit, stages_table
from tests.bench.workers import compare_workers, workers_table

_LARGE_ROWS, _FEW_ROWS = 10_000_000, 20_000
_QUOTED = """\
For scale, quoted from their published or earlier measured figures, not measured in this run:
a fresh COUNT on a table of this size takes 40 ms (22x plain) with smartnoise-sql, 93 ms (74x) with Qrlew."""


def main() -> None:
    options = _options()
    if options.stages:
        _stages(options)
    else:
        _all(options)


def _all(options: argparse.Namespace) -> None:
    large = _FEW_ROWS if options.quick else options.large_rows
    rounds = options.rounds if options.quick else options.large_rounds
    scaled = not (options.quick or options.bounds)
    with (
        servers(
            *(options.state, options.pg_bin, options.small_rows, large),
            scale=scaled,
            policies=served_with_copies,
        ) as running,
        _awake(running, options) as told,
    ):
        print(f"PostgreSQL {running.version}, Python {platform.python_version()}, {_machine()}")
        print(told)
        if not (options.bounds or options.goals):
            _latency(running, options)
            _kept(running, options)
            _workers(options)
        relayed = [] if options.bounds else _relaying(running, options)
        if scaled and not options.goals:
            _scale(running, large, rounds)
        if not options.goals:
            _bounds(running, large, rounds)
        if scaled and not options.goals:
            _many_groups(running, rounds)
        if scaled:
            effort = Effort(rounds, options.rounds, options.warm)
            print(
                f"\nGoals on {large:,} rows, least of rounds in turn; of the relay medians ({_machine()}):",
                flush=True,
            )
            print(goals_table(outcomes(running, effort, relayed)))
        print(f"\nAt the end: {_machine()}")


def _awake(running: Servers, options: argparse.Namespace) -> AbstractContextManager[str]:
    if not options.awake:
        return nullcontext("Cores may fall asleep.")
    return awake(lambda: statistics.median(commit_times(running.ledger, 50)))


def _stages(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="dpproxy-stages-") as folder:
        written = Path(folder, "stages.json")
        sizes = options.small_rows, _FEW_ROWS
        with servers(options.state, options.pg_bin, *sizes, scale=False, stages=written) as running:
            print(f"PostgreSQL {running.version}, {_machine()}")
            prepared = [one for one in latency(running) if one.what.endswith("prepared")]
            for one in prepared:
                for _ in range(options.warm + options.rounds):
                    one.ours()
            print(durable_commit(running.ledger, options.rounds))
        print(stages_table(written, [one.what for one in prepared], options.rounds))


def _latency(running: Servers, options: argparse.Namespace) -> None:
    print(f"\nLatency on {options.small_rows:,} rows, medians of {options.rounds} rounds in turn:")
    print(table(measure(latency(running), options.rounds, options.warm)))
    print(_QUOTED)
    print(durable_commit(running.ledger, options.rounds))


def _kept(running: Servers, options: argparse.Namespace) -> None:
    print(f"\nA kept answer beside a fresh one, medians of {options.rounds} rounds in turn:")
    print(table(measure(kept_answers(running), options.rounds, options.warm), ("fresh", "kept")))
    print(canonicalising(options.rounds))
    print(durable_commits(running.ledger, options.relay_rounds, options.relay_seconds))


def _relaying(running: Servers, options: argparse.Namespace) -> list[Throughput]:
    absent = missing()
    if absent is not None:
        print(f"\nThroughput of the relay: left out, {absent} is not here.")
        return []
    print(
        f"\nPrepared SELECT 1 in a second, medians of {options.relay_rounds} rounds in turn:",
        flush=True,
    )
    found = relaying(running, options.relay_rounds, options.relay_seconds)
    print(throughput_table(found))
    return found


def _workers(options: argparse.Namespace) -> None:
    if shutil.which("pgbench") is None:
        print("\nTwo workers beside one: left out, pgbench is not here.")
        return
    print(
        f"\nTwo workers beside one, medians of {options.relay_rounds} rounds in turn; clients and"
        f" PostgreSQL share the cores ({_machine()}):",
        flush=True,
    )
    print(workers_table(compare_workers(options.relay_rounds, options.relay_seconds)))


def _scale(running: Servers, rows: int, rounds: int) -> None:
    print(
        f"\ncount, sum, avg, min and max of a column in one statement on {rows:,} rows, beside the"
        f" plain avg,\nmedians of {rounds} rounds in turn ({_machine()}):",
        flush=True,
    )
    print(table(measure(scale(running), rounds, 1)))
    print(
        f"\nThe same question, plain and through the proxy, on {rows:,} rows,\n"
        f"medians of {rounds} rounds in turn ({_machine()}):",
        flush=True,
    )
    print(table(measure(same_question(running), rounds, 1)))


def _bounds(running: Servers, rows: int, rounds: int) -> None:
    print(
        f"\nA bound on the rows of a user, or on what a user adds, fixed and chosen privately, both through"
        f" the proxy,\non {rows:,} rows, medians of {rounds} rounds in turn ({_machine()}):",
        flush=True,
    )
    print(table(measure(chosen_bounds(running), rounds, 1), ("fixed", "chosen")))
    print("\nMeans by keys beside a number and a sum of the same values, a fixed bound for both:")
    print(table(measure(means_by_keys(running), rounds, 1), ("sums", "means")))


def _many_groups(running: Servers, rounds: int) -> None:
    before = running.proxy_memory()
    print(f"\nVery many groups, medians of {rounds} rounds ({_machine()}):", flush=True)
    print(table(measure([many_groups(running)], rounds, 0)))
    after = running.proxy_memory()
    if before is not None and after is not None:
        print(f"Peak memory of the proxy: {before} MB before, {after} MB after.")


def _options() -> argparse.Namespace:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--bounds", action="store_true", help="only bounds, fixed and chosen")
    parser.add_argument(
        "--goals", action="store_true", help="only the relay, and the table of goals"
    )
    parser.add_argument(
        "--stages", action="store_true", help="only where prepared counts' time goes"
    )
    parser.add_argument(
        "--awake",
        action=argparse.BooleanOptionalAction,
        default=hasattr(os, "sched_setaffinity"),
        help="keep idle cores from being clocked down, as a server's are (Linux)",
    )
    parser.add_argument("--state", type=Path, default=cache / "dpproxy-bench", help="%(default)s")
    parser.add_argument("--pg-bin", type=Path, help="programs of another PostgreSQL")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--warm", type=int, default=20, help="rounds that are not counted")
    parser.add_argument("--large-rounds", type=int, default=5)
    parser.add_argument("--relay-rounds", type=int, default=5)
    parser.add_argument("--relay-seconds", type=int, default=3)
    parser.add_argument("--small-rows", type=int, default=32_000)
    parser.add_argument("--large-rows", type=int, default=_LARGE_ROWS)
    return parser.parse_args()


def _machine() -> str:
    one, five, _ = os.getloadavg()
    return f"{os.cpu_count()} cores, load {one:.1f} (1 min) {five:.1f} (5 min)"


if __name__ == "__main__":
    main()
