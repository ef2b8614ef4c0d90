"""The drill of deploy/backup.md: a backup under load, restored elsewhere, has all that was spent before it."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tarfile
import threading
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from proxy.ledger.text_keys import KEY_FILE
from tests.cli.commands import Serving, dpproxy, serving
from tests.cli.test_serving_with_a_ledger import _PASSWORD, _PERIOD, _POLICY, Operator
from tests.waiting import until

pytestmark = pytest.mark.long
_CLIENTS = 4
_AT_LEAST = 12
_CHECKOUT = Path(__file__).parents[2]
_BEFORE = "45c8519c"  # the last one before `serve` drained, had metrics and a status
_RICH = _POLICY.replace("{epsilon: 5, delta: 1e-4", "{epsilon: 4000, delta: 1e-1").replace(
    "epsilon: 1, delta", "epsilon: 0.25, delta"
) % (5000, _PERIOD)
# A finding that the version before did not know.
_ACCEPTED = _RICH + "accept: {TOTAL_IS_LARGE: {budgets.total: its rows are invented}}\n"


@dataclass(slots=True)
class Clients:
    """They ask one after the other. receipts: of answers that they have."""

    running: Serving
    receipts: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Clients:
        self._threads = [threading.Thread(target=self._ask) for _ in range(_CLIENTS)]
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for one in self._threads:
            one.join(60)

    def wait_for(self, more: int) -> None:
        wanted = len(self.receipts) + more
        for _ in range(600):
            if len(self.receipts) >= wanted or self.faults:
                break
            self._stop.wait(0.1)
        assert not self.faults and len(self.receipts) >= wanted, self.faults

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                self.receipts.append(ask(self.running))
            except (AssertionError, KeyError, httpx.HTTPError) as error:
                self.faults.append(repr(error))
                return


def ask(running: Serving) -> int:
    """The receipt of an answer."""
    (line,) = [one for one in running.printed.splitlines() if one.startswith("HTTP: ")]
    url = line.removeprefix("HTTP: ").removesuffix("/docs")
    body = {"database": "shop", "sql": "SELECT count(*) FROM shop.customers"}
    told = httpx.post(f"{url}/v1/query", json=body, auth=("ann", _PASSWORD), timeout=60)
    assert told.status_code == 200, told.text
    return int(told.json()["privacy"]["receipt"])


def _receipts(operator: Operator) -> dict[int, Decimal]:
    """Their epsilon, by number."""
    exported = operator.run("ledger", "export")
    assert exported.code == 0, exported.err
    return {
        int(row["receipt"]): Decimal(row["epsilon"])
        for row in csv.DictReader(exported.out.splitlines())
    }


def test_nothing_that_was_spent_before_a_backup_is_forgotten(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.policy.write_text(_ACCEPTED)
    operator.adopt()
    backups: list[tuple[Path, list[int]]] = []
    with serving(tmp_path, operator.arguments(), "HTTP:", operator.environment) as running:
        with Clients(running) as clients:
            for number in range(3):
                clients.wait_for(_AT_LEAST)
                there, file = list(clients.receipts), tmp_path / f"backup-{number}"
                assert operator.run("ledger", "backup", file).code == 0
                backups.append((file, there))
            clients.wait_for(_AT_LEAST)
        assert running.stop() == 0
    assert len(set(clients.receipts)) == len(clients.receipts), "a receipt each"
    whole = _receipts(operator)
    assert set(clients.receipts) <= set(whole)
    key = (operator.state / KEY_FILE).read_bytes()

    for file, there in backups:
        operator.state = tmp_path / f"restored-from-{file.name}"
        restored = operator.run("ledger", "restore", file)
        assert restored.code == 0, restored.err
        # What was spent after it is forgotten: a person has to say that this is meant.
        refused = operator.serve()
        assert refused.code == 1 and "what was spent later is forgotten" in refused.err
        assert operator.run("ledger", "accept").code == 0
        assert operator.run("ledger", "verify").out == "all checks passed\n"
        found = _receipts(operator)
        assert set(there) <= set(found) < set(whole)
        assert found == {number: whole[number] for number in found}, "as they were"
        assert sorted(found) == sorted(whole)[: len(found)], "of one moment, without gaps"

    (operator.state / KEY_FILE).write_bytes(key)
    (operator.state / KEY_FILE).chmod(0o600)
    before = _receipts(operator)
    with serving(tmp_path, operator.arguments(), "HTTP:", operator.environment) as running:
        assert ask(running) > max(before)
        assert running.stop() == 0
    after = _receipts(operator)
    assert {number: after[number] for number in before} == before and len(after) == len(before) + 1
    assert operator.run("ledger", "verify").out == "all checks passed\n"


def _old_program(folder: Path) -> list[str]:
    """`dpproxy` of a commit, with the libraries of today."""
    archive = folder / "old.tar"
    done = subprocess.run(
        ["git", "archive", "--output", str(archive), _BEFORE, "proxy", "policies"],
        cwd=_CHECKOUT,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"no commit {_BEFORE} in this checkout")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "old", filter="data")
    code = f"import sys; sys.path.insert(0, {str(folder / 'old')!r}); import proxy"
    code += f"; assert proxy.__path__[0].startswith({str(folder)!r})"
    return [sys.executable, "-c", f"{code}; from proxy.cli.main import main; main()"]


def test_budgets_go_on_after_an_upgrade(tmp_path: Path) -> None:
    """What the version before charged stands in today's, and so does what its backup holds."""
    operator = Operator(tmp_path)
    operator.policy.write_text(_RICH)
    program, given = _old_program(tmp_path), {**os.environ, **operator.environment}
    of = ("--state", str(operator.state))

    def old(*arguments: str | Path, typed: str = "") -> str:
        words = [*program, *map(str, arguments), *of]
        done = subprocess.run(
            words, input=typed, env=given, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    old("ledger", "adopt", "--policy", operator.policy, "--new")
    old("user", "add", "ann", "--password-stdin", typed=_PASSWORD)
    with (tmp_path / "out.txt").open("w") as out:
        process = subprocess.Popen(
            [*program, *map(str, operator.arguments())],
            env={**given, "PYTHONUNBUFFERED": "1"},
            cwd=tmp_path,
            stdout=out,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    running = Serving(process, tmp_path / "out.txt", 0.0)
    try:
        until(lambda: "HTTP:" in running.printed or process.poll() is not None, 60)
        spent = [ask(running) for _ in range(3)]
        old("ledger", "backup", tmp_path / "old.backup")
        assert running.stop() == 0
    finally:
        process.kill()
        process.wait(60)

    checked = dpproxy("policy", "check", operator.policy, environment=operator.environment)
    assert checked.code != 0 and "TOTAL_IS_LARGE" in checked.out + checked.err, (
        "before it is stopped"
    )
    operator.policy.write_text(_ACCEPTED)
    with serving(tmp_path, operator.arguments(), "HTTP:", operator.environment) as newer:
        assert ask(newer) == max(spent) + 1
        assert newer.stop() == 0
    after = _receipts(operator)
    assert set(spent) < set(after) and set(after.values()) == {Decimal("0.25")}
    assert operator.run("ledger", "verify").out == "all checks passed\n"

    operator.state = tmp_path / "restored"
    restored = operator.run("ledger", "restore", tmp_path / "old.backup")
    if (
        restored.code != 0
    ):  # of another schema: it is restored with the program that wrote it, and updated then
        assert "the dpproxy that wrote it" in restored.err, restored.err
        of = ("--state", str(operator.state))
        old("ledger", "restore", tmp_path / "old.backup")
    assert operator.run("ledger", "accept").code == 0
    assert sorted(_receipts(operator)) == sorted(spent)
    assert operator.run("ledger", "verify").out == "all checks passed\n"
