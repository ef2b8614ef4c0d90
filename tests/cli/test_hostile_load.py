"""One hostile analyst or stranger beside one honest: what the one does costs the other at most three times the
95th percentile, and nothing is charged that was not answered."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.cli.honest_client import KINDS, LOGIN, HonestAnalyst, Window
from tests.cli.hostile_client import ATTACKS
from tests.cli.operator_at_work import PASSWORD, Listening, Operator

pytestmark = pytest.mark.long

_SECONDS = float(os.environ.get("DPPROXY_LOAD_SECONDS", "60"))
_ATTACKS = os.environ.get("DPPROXY_LOAD_ATTACKS", " ".join(ATTACKS)).split()
_WORSE = 3.0
_MEMORY = 512 * 1024  # KiB, of the process
_ALONE = 5.0
_HONEST, _HOSTILE = "honest", "hostile"


@contextlib.contextmanager
def _attack(name: str, listening: Listening) -> Iterator[Counter[str]]:
    """Gives what became of its attempts, when it has ended."""
    (wire_host, wire_port), (http_host, http_port) = listening.wire, listening.http
    arguments = [wire_host, str(wire_port), http_host, str(http_port), _HOSTILE, PASSWORD]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.hostile_client", name, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        done: Counter[str] = Counter()
        yield done
        assert process.poll() is None, f"the attack {name} has ended by itself"
        process.terminate()
        told, _ = process.communicate(timeout=60)
        done.update(json.loads(told))
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True, slots=True)
class Row:
    attack: str
    kind: str
    alone: float
    during: float
    answers: int
    failures: int

    @property
    def ratio(self) -> float:
        return self.during / self.alone

    def __str__(self) -> str:
        return (
            f"{self.attack:4} {self.kind:20} {self.alone * 1e3:8.1f} {self.during * 1e3:8.1f}"
            f" {self.ratio:6.2f} {self.answers:7} {self.failures:8}"
        )


def _rows(attack: str, alone: Window, during: Window) -> list[Row]:
    return [
        Row(
            attack,
            kind,
            alone.p95(kind),
            during.p95(kind),
            len(during.seconds[kind]),
            sum(failure.startswith(f"{kind}:") for failure in during.failures),
        )
        for kind in KINDS
    ]


def _together(windows: Sequence[Window]) -> Window:
    made = Window()
    for window in windows:
        made.failures += window.failures
        for kind in KINDS:
            made.seconds[kind] += window.seconds[kind]
    return made


def _peak_memory(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def _charged(listening: Listening) -> set[int]:
    with listening.connect(_HONEST) as connection:
        return {receipt for (receipt,) in connection.execute("SELECT receipt FROM dp.history")}


def test_a_hostile_analyst_beside_an_honest_one(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.adopt(_HONEST, _HOSTILE)
    alone_for = min(_ALONE, _SECONDS)
    table: list[Row] = []
    problems: list[str] = []
    attempts: list[str] = []
    with operator.serving(is_cold=True) as listening:
        honest = HonestAnalyst(listening, _HONEST)
        honest.work(alone_for)  # warm
        before = honest.work(alone_for)
        for attack in _ATTACKS:
            with _attack(attack, listening) as done:
                during = honest.work(_SECONDS)
            attempts.append(f"{attack:4} {dict(done)}")
            assert sum(done.values()) > 0, f"{attack} attempts nothing"
            after = honest.work(alone_for)
            table += _rows(attack, _together([before, after]), during)
            problems += [f"{attack} {failure}" for failure in sorted(set(during.failures))]
            problems += [f"after {attack} {failure}" for failure in sorted(set(after.failures))]
            try:
                lost = _charged(listening) - set(honest.receipts)
            except psycopg.Error as error:
                problems.append(f"after {attack}: no history: {error}")
            else:
                if lost:
                    problems.append(f"{attack}: {len(lost)} charged and not answered")
            before = after
        peak = _peak_memory(listening.running.process.pid)
    print("what kind                   alone ms during  ratio answers failures")
    print(
        *table,
        *attempts,
        f"the process' memory at its peak: {peak / 1024:.0f} MiB",
        *problems,
        sep="\n",
    )
    slow = [row for row in table if row.kind != LOGIN and not row.ratio < _WORSE]
    assert not problems and not slow, (slow, problems)
    assert peak < _MEMORY
