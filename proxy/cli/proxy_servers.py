"""The two servers that a dpproxy process stands on: the lasting ledger's, and its own disposable shadow."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import structlog
import typer

from proxy.cli.checked_ledger import check_ledger
from proxy.cli.cli_error import CliError
from proxy.cli.state import LEDGER, SHADOW, claim_demo_folder, is_demo_folder, refuse_demo_folder
from proxy.cli.state_folder import has_ledger, made_state_folder, no_ledger, state_folder
from proxy.ledger.demo_ledger import DemoLedger, claim_for_demo, refuse_of_demo
from proxy.ledger.ledger_home import LedgerNotOurs, embedded_ledger, given_ledger
from proxy.ledger.ledger_mark import MarkFile
from proxy.ledger.ledger_schema import LedgerTooNew, LedgerTooOld
from proxy.ledger.users import verifiers
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.postgres.embedded import EmbeddedPostgres, preparing
from proxy.postgres.postgres_error import InUse
from proxy.shadow.shadow_roles import match_roles

_BESIDE_SESSIONS = 120  # sessions of HTTP 64, logins 32, and dpproxy's own
_WORKERS = "workers"  # folder of those after the first


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServedLedger:
    """ledger_dsn holds a password: never log it. embedded: servers that this process must keep alive;
    accept: the command that accepts a ledger which was put back."""

    ledger_dsn: str
    embedded: tuple[EmbeddedPostgres, ...]
    mark: MarkFile
    accept: str = ""

    def dead(self) -> tuple[str, ...]:
        """Names of the servers that do not run any more."""
        return tuple(server.name for server in self.embedded if not server.is_running())

    def check_ledger(self, last_receipt: int = 0) -> None:
        """Check that the ledger may be served. It may have been put back from a copy, also while this serves.

        Args:
            last_receipt: the highest number that this process has seen committed

        Raises:
            CliError: it may not be served.
            psycopg.Error: it cannot be reached.
        """
        check_ledger(self.ledger_dsn, self.mark, self.accept, last_receipt)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProxyServers(ServedLedger):
    """The ledger, and the shadow in front of it."""

    shadow: EmbeddedPostgres

    def match_roles(self, databases: tuple[str, ...]) -> None:
        """The shadow's roles are the ledger's analysts."""
        match_roles(self.shadow.dsn(), databases, verifiers(self.ledger_dsn))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServersBeingPrepared:
    """Servers whose start is under way. Call `launch`, then `check_ledger`."""

    launch: Callable[[], EmbeddedPostgres]  # all run and take connections; gives the shadow's
    check_ledger: Callable[[], ProxyServers]  # refuses Stopped: a ledger that may not be served


@contextlib.contextmanager
def servers_being_prepared(
    state: Path | None,
    ledger_dsn: str | None,
    *,
    pg_bin: Path | None = None,
    shadow_user: str | None = None,
    beside: tuple[EmbeddedPostgres, ...] = (),
    for_demo: bool = False,
    policies: Sequence[Path] = (),
    worker: int = 1,
    sessions: int = WIRE_SESSIONS,
    accept: str | None = None,
) -> Iterator[ServersBeingPrepared]:
    """
    Given    the state folder; the connection string of a shared ledger, or None for one in the folder;
             another PostgreSQL for the shadow; the user that it runs as; further servers to start with
             them; whether it is the demo; for what is told: the files of the policies; worker: the number of
             this process among those that serve the folder, each of which has a shadow of its own;
             sessions: of the wire at once; accept: the command of ServedLedger, where it is not the usual one
    Gives    what starts them all, to run until the end; what takes long before that is under way
    Refuses  Stopped, also where there is no ledger (the demo makes its own), or the folder or the ledger is the
             demo's and should not be, or the reverse
    """
    home = state_folder(state)
    (claim_demo_folder if for_demo else refuse_demo_folder)(home)
    shadow = EmbeddedPostgres(
        _shadow_home(home, worker),
        SHADOW,
        pg_bin=pg_bin,
        tcp=False,
        disposable=True,
        settings={"max_connections": str(sessions + _BESIDE_SESSIONS)},
        for_analysts=True,
        user=shadow_user,
    )
    ledger = None if ledger_dsn is not None else EmbeddedPostgres(home, LEDGER, tcp=False)
    has_one = ledger is None or has_ledger(home)
    if not for_demo:
        if not has_one:
            yield _refusing(no_ledger(home, policies))  # after what is wrong with a policy
            return
        typer.echo(f"starting the servers in {home} ...")
    if shadow_user is not None:
        made_state_folder(home)
        passed = {home, home / _WORKERS, _shadow_home(home, worker)}
        for folder in sorted(one for one in passed if one == home or worker > 1):
            folder.mkdir(mode=0o700, exist_ok=True)
            folder.chmod(0o711)  # to be passed through; what is in it is closed by itself
    every = (*(() if ledger is None else (ledger,)), shadow, *beside)
    with contextlib.ExitStack() as stopping:
        start = stopping.enter_context(_prepared(every, home))

        def launch() -> EmbeddedPostgres:
            start()
            for server in every:
                stopping.callback(server.stop)
            if not for_demo:
                typer.echo(_what_keeps(shadow))
            return shadow

        def check_ledger() -> ProxyServers:
            dsn = _ledger_dsn(ledger, ledger_dsn)
            _whose(dsn, home, for_demo=for_demo)
            servers = ProxyServers(
                ledger_dsn=dsn,
                shadow=shadow,
                embedded=every,
                mark=MarkFile(home),
                accept=accept or accept_command(home, ledger_dsn),
            )
            servers.check_ledger()
            return servers

        yield ServersBeingPrepared(launch=launch, check_ledger=check_ledger)


@contextlib.contextmanager
def ledger_of_workers(
    state: Path | None, ledger_dsn: str | None, policies: Sequence[Path], connections: int
) -> Iterator[ServedLedger]:
    """The ledger alone, for several workers that have a shadow each.

    Args:
        state: As of `servers_being_prepared`.
        ledger_dsn: As there.
        policies: As there.
        connections: That all of them may need, to a server in the folder.

    Raises:
        CliError: As there.
    """
    home = state_folder(state)
    refuse_demo_folder(home)
    ledger = None
    if ledger_dsn is None:
        settings = {"max_connections": str(connections)}
        ledger = EmbeddedPostgres(home, LEDGER, tcp=False, settings=settings)
    if ledger is not None and not has_ledger(home):
        raise no_ledger(home, policies)
    made_state_folder(home)
    (home / _WORKERS).mkdir(mode=0o700, exist_ok=True)
    with contextlib.ExitStack() as stopping:
        if ledger is not None:
            _start((ledger,), home)
            stopping.callback(ledger.stop)
        dsn = _ledger_dsn(ledger, ledger_dsn)
        _whose(dsn, home, for_demo=False)
        served = ServedLedger(
            ledger_dsn=dsn,
            embedded=() if ledger is None else (ledger,),
            mark=MarkFile(home),
            accept=accept_command(home, ledger_dsn),
        )
        served.check_ledger()
        yield served


def _shadow_home(home: Path, worker: int) -> Path:
    """The first worker has it where a process without others does: so one of each excludes the other."""
    return home if worker == 1 else home / _WORKERS / str(worker)


def _what_keeps(shadow: EmbeddedPostgres) -> str:
    """What a process of the shadow's server can reach, for the operator."""
    server = f"shadow: PostgreSQL {shadow.version}"
    if shadow.user is not None:
        server += f", runs as user {shadow.user}"
    if shadow.has_filter:
        return f"{server}, reaches no file or process of others, no socket (Landlock, seccomp)"
    if shadow.has_walls:
        return (
            f"{server}, reaches no file or process of others (Landlock), but CONNECTS to Unix sockets as its "
            "user: it needs seccomp on x86_64 or aarch64. Let no server trust that user without a password"
        )
    if shadow.user is not None:
        return server
    structlog.get_logger("dpproxy.servers").warning("shadow_is_not_separated")
    return (
        f"{server}, is NOT separated: code that an analyst ran in it could read ledger and passwords. It needs "
        "Linux with Landlock, a service or container that may make its system calls, and a state folder "
        "outside of /usr and /lib"
    )


def _refusing(error: CliError) -> ServersBeingPrepared:
    def refuse() -> NoReturn:
        raise error

    return ServersBeingPrepared(launch=refuse, check_ledger=refuse)


def accept_command(home: Path, ledger_dsn: str | None) -> str:
    shared = "" if ledger_dsn is None else " --ledger DSN"
    return f"dpproxy ledger accept --state {shlex.quote(str(home))}{shared}"


@contextlib.contextmanager
def ledger_only(
    state: Path | None,
    ledger_dsn: str | None,
    *,
    may_make: bool = False,
    for_people: bool = False,
) -> Iterator[str]:
    """
    Given    may_make: whether a ledger is made where there is none; else a mistyped folder is told;
             for_people: what comes into it is about people, so that it may not be the demo's
    Gives    the ledger's connection string, for commands beside `serve`: a running ledger is used, one that
             does not run is started for the command
    Refuses  Stopped
    """
    home = state_folder(state)

    def checked(dsn: str) -> str:
        if for_people:
            _whose(dsn, home, for_demo=False)
        return dsn

    if for_people:
        refuse_demo_folder(home)
    if ledger_dsn is not None:
        yield checked(_ledger_dsn(None, ledger_dsn, may_make=may_make))
        return
    if state is None:
        typer.echo(f"without --state: the ledger in {home}", err=True)
    ledger = EmbeddedPostgres(home, LEDGER, tcp=False)
    if ledger.attach():
        yield checked(_ledger_dsn(ledger, None))
        return
    if not has_ledger(home):
        if not may_make:
            raise CliError(
                f"there is no ledger in {home}: wrong --state? Give the --state of `dpproxy serve` or `demo`,"
                " or begin one with `dpproxy ledger adopt --new`"
            )
        made_state_folder(home)
    _start((ledger,), home)
    try:
        yield checked(_ledger_dsn(ledger, None))
    finally:
        ledger.stop()


def warn_of_demo(state: Path | None, ledger_dsn: str | None) -> None:
    """An analyst of the demo is none of a production, which the operator may have meant."""
    home = state_folder(state)
    if ledger_dsn is None and is_demo_folder(home):
        typer.echo(f"{home} is the demo's folder: its analysts query invented data only", err=True)


def _whose(dsn: str, home: Path, *, for_demo: bool) -> None:
    try:
        (claim_for_demo if for_demo else refuse_of_demo)(dsn)
    except DemoLedger as error:
        raise CliError(f"{home}: {error}") from None


def _start(servers: tuple[EmbeddedPostgres, ...], home: Path) -> None:
    with _prepared(servers, home) as launch:
        launch()


@contextlib.contextmanager
def _prepared(servers: tuple[EmbeddedPostgres, ...], home: Path) -> Iterator[Callable[[], None]]:
    try:
        with preparing(servers) as launch:
            yield launch
    except InUse:
        raise CliError(f"another dpproxy runs in {home}: stop it, or use --state") from None


def _ledger_dsn(
    embedded: EmbeddedPostgres | None, given: str | None, *, may_make: bool = False
) -> str:
    try:
        if embedded is not None:
            return embedded_ledger(embedded)
        assert given is not None
        return given_ledger(given, may_make=may_make)
    except (LedgerTooNew, LedgerTooOld, LedgerNotOurs) as error:
        raise CliError(str(error)) from None
