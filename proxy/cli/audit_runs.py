"""Neighbour audits that administrators begin: `dpproxy audit` in a process of its own, one at a time.

Results are files of the state folder, so that each process that serves from it knows them. A lock on a file
says whether one runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import structlog

from proxy.cli.source_variables import inherited_environment
from proxy.ledger.users import UserError
from proxy.servers.http.admin_models import AuditedStatement, AuditRun

_log = structlog.get_logger("dpproxy.audits")

_KEPT = 20
_SECONDS = 3600.0
_LAST_SECONDS = 10.0  # to stop its server in good order
_FAILURE_CHARACTERS = 2000
_COMMAND = "from proxy.cli.main import main; main()"


class AuditRuns:
    """
    Args:
        home: The state folder.
        files: The policies' files, by database.
        environment: Variables of these policies' sources, beside those of this process.
    """

    def __init__(
        self,
        home: Path,
        files: Callable[[], Mapping[str, Path]],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = home / "audits"
        self._files = files
        self._environment = {**inherited_environment(), **(environment or {})}
        self._running: asyncio.Task[None] | None = None

    async def start(self, database: str, *, rows: int, distance: int) -> int:
        """Begin one and give its number. Refuses  UserError while another one runs"""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        lock = (self._folder / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise UserError("another audit runs: wait until it has ended") from None
        runs = list(self._runs())
        number = 1 + max((one.number for one in runs), default=0)
        begun = AuditRun(
            number=number,
            database=database,
            rows=rows,
            distance=distance,
            state="running",
            at=datetime.now(timezone.utc),
            seconds=None,
            failure=None,
            neighbours=None,
            statements=[],
            refused=None,
        )
        self._write(begun)
        for one in sorted(runs, key=lambda one: one.number)[: -_KEPT + 1]:
            self._file(one.number).unlink(missing_ok=True)
        self._running = asyncio.create_task(self._run(begun, self._files()[database], lock))
        return number

    async def audits(self) -> Sequence[AuditRun]:
        """The newest first. One that was running when its process ended has failed."""
        is_running = await asyncio.to_thread(self._is_locked)
        found = sorted(self._runs(), key=lambda one: -one.number)
        return [
            one
            if one.state != "running" or (is_running and one is found[0])
            else one.model_copy(
                update={"state": "failed", "failure": "the proxy was stopped meanwhile"}
            )
            for one in found
        ]

    async def close(self) -> None:
        """End the one that runs."""
        if self._running is not None:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running

    async def _run(self, begun: AuditRun, policy: Path, lock: Any) -> None:
        began = time.monotonic()
        try:
            with lock:
                document = await self._command(begun, policy)
                ended = begun.model_copy(
                    update={
                        **_result(document),
                        "state": "done",
                        "seconds": round(time.monotonic() - began, 1),
                    }
                )
                self._write(ended)
        except Exception as error:
            failure = str(error)[-_FAILURE_CHARACTERS:]
            _log.warning("audit_failed", database=begun.database, kind=type(error).__name__)
            self._write(begun.model_copy(update={"state": "failed", "failure": failure}))

    async def _command(self, begun: AuditRun, policy: Path) -> Any:
        nice = shutil.which("nice")
        process = await asyncio.create_subprocess_exec(
            *(() if nice is None else (nice, "-n", "19")),
            *(sys.executable, "-c", _COMMAND, "audit", "--policy", str(policy), "--json"),
            *("--rows", str(begun.rows), "--distance", str(begun.distance)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )
        try:
            out, told = await asyncio.wait_for(process.communicate(), _SECONDS)
        except (asyncio.TimeoutError, asyncio.CancelledError):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), _LAST_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            raise
        if not out.strip():
            raise RuntimeError(told.decode(errors="replace").strip() or "it said nothing")
        return json.loads(out)

    def _runs(self) -> Iterator[AuditRun]:
        for file in self._folder.glob("audit-*.json"):
            with contextlib.suppress(OSError, ValueError):
                yield AuditRun.model_validate_json(file.read_bytes())

    def _write(self, run: AuditRun) -> None:
        """Whole or not at all."""
        file = self._file(run.number)
        made = file.with_suffix(".new")
        made.write_text(run.model_dump_json(), encoding="utf-8")
        made.replace(file)

    def _file(self, number: int) -> Path:
        return self._folder / f"audit-{number:05}.json"

    def _is_locked(self) -> bool:
        try:
            with (self._folder / "lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False


def _result(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "neighbours": document["neighbours"],
        "refused": len(document["refused"]),
        "statements": [AuditedStatement.model_validate(one) for one in document["releases"]],
    }
