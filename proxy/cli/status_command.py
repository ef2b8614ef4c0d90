"""`dpproxy status`: how a serving process is, asked over its control socket or the administrators' API."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import State
from proxy.cli.control_socket import read_control
from proxy.cli.state_folder import state_folder
from proxy.cli.text_table import text_table
from proxy.servers.client_address import is_loopback

_READY, _UNREACHABLE, _NOT_READY, _DRAINING = 0, 1, 3, 4
_CODES = {"ready": _READY, "not ready": _NOT_READY, "draining": _DRAINING}
_PATH = "/admin/v1/status"
_LONGEST = 4 << 20
_SECONDS = 15.0
_POLL_SECONDS = 0.2


class Awaited(str, Enum):
    READY = "ready"
    DRAINED = "drained"


class _NothingServes(Exception):
    """Nothing serves there. Its text says why."""


def status(
    state: State = None,
    admin: Annotated[
        str | None,
        typer.Option(
            help="The administrators' API of another machine; left out: the process that serves --state.",
            metavar="URL",
        ),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(help="With --admin: a file with its secret alone.", metavar="FILE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with all fields.")] = False,
    wait: Annotated[
        Awaited | None,
        typer.Option(help="Wait until it is ready, or until it has drained and ended."),
    ] = None,
) -> None:
    """Tell how a serving process is. Ends with 0: ready, 3: not ready, 4: draining, 1: not reachable."""
    ask = _asking(state, admin, secret_file)
    is_told = False
    while True:
        try:
            told = ask()
        except _NothingServes as error:
            if wait is None:
                raise CliError(str(error)) from None
            if wait is Awaited.DRAINED:
                raise typer.Exit(_READY) from None
            if not is_told:
                typer.echo(f"waiting: {error}", err=True)
                is_told = True
        else:
            if wait is None or (wait is Awaited.READY and told["state"] == "ready"):
                break
        time.sleep(_POLL_SECONDS)
    for line in [json.dumps(told)] if as_json else _lines(told):
        typer.echo(line)
    raise typer.Exit(_CODES[told["state"]])


def _asking(
    state: Path | None, admin: str | None, secret_file: Path | None
) -> Callable[[], dict[str, Any]]:
    if (admin is None) != (secret_file is None):
        raise CliError("--admin needs --secret-file, and the reverse")
    if admin is None:
        home = state_folder(state)
        return lambda: _told_by_socket(home)
    if state is not None:
        raise CliError("--admin asks over the network: leave --state out")
    parts = urlsplit(admin)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise CliError(f"--admin {admin}: not a URL such as https://dpproxy.example:9432")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise CliError("--admin: http:// would send the secret in plain text: use https://")
    assert secret_file is not None
    try:
        secret = secret_file.read_text().strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise CliError(f"--secret-file {secret_file}: {reason}") from None
    if not secret.isascii() or not secret.isprintable() or " " in secret or not secret:
        raise CliError(f"--secret-file {secret_file}: it must hold the secret alone")
    make: Callable[[], http.client.HTTPConnection]
    host, port = parts.hostname, parts.port
    if parts.scheme == "https":
        context = ssl.create_default_context()
        make = lambda: http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=context)  # noqa: E731
    else:
        make = lambda: http.client.HTTPConnection(host, port, timeout=_SECONDS)  # noqa: E731
    return lambda: _told_by_api(make, secret)


def _told_by_socket(home: Path) -> dict[str, Any]:
    try:
        return _read(read_control(home))
    except OSError as error:
        reason = error.strerror or str(error)
        raise _NothingServes(f"nothing serves in {home} ({reason}): wrong --state?") from None


def _told_by_api(make: Callable[[], http.client.HTTPConnection], secret: str) -> dict[str, Any]:
    connection = make()
    try:
        connection.request("GET", _PATH, headers={"Authorization": f"Bearer {secret}"})
        answer = connection.getresponse()
        body = answer.read(_LONGEST)
    except ssl.SSLCertVerificationError as error:
        raise CliError(
            f"--admin: its certificate is not trusted ({error.verify_message}): SSL_CERT_FILE names what is"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise _NothingServes(f"the administrators' API does not answer ({reason})") from None
    finally:
        connection.close()
    if answer.status == http.client.UNAUTHORIZED:
        raise CliError("--secret-file: the administrators' API does not know that secret")
    if answer.status != http.client.OK:
        raise CliError(f"the administrators' API answers {answer.status}, not a status")
    return _read(body)


def _read(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
        if told["state"] in _CODES:
            return dict(told)
    except (ValueError, KeyError, TypeError):
        pass
    raise _NothingServes("what answers there is no status of dpproxy")


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"dpproxy {told['version']}, up {_span(told['up_seconds'])}, {told['state']}"
    workers = told["workers"]
    yield ""
    yield from text_table(
        ["worker", "pid", "state", "sessions", "active", "statements", "restarts"],
        [
            [
                *map(
                    str, (one["worker"], one["pid"], one["state"], one["sessions"], one["active"])
                ),
                f"{one['statements']:,}",
                str(one["restarts"]),
            ]
            for one in workers
        ],
    )
    yield ""
    yield from text_table(
        [
            "database",
            "protected",
            "pool",
            "ledger",
            "pool",
            "shadow",
            "policy",
            "since",
            "catalogue",
        ],
        [
            [
                one["database"],
                _ok(one["protected"]),
                _pool(one["protected_pool"]),
                _ok(one["ledger"]),
                _pool(one["ledger_pool"]),
                _ok(one["shadow"]),
                one["policy"][:8] + ("" if one["is_policy_taken"] else " (newer one not taken)"),
                one["policy_since"][:16].replace("T", " "),
                f"{one['catalogue_age_seconds']} s ago",
            ]
            for one in told["databases"]
        ],
    )
    yield ""
    charge = told["ledger"]["charge_milliseconds"]
    yield (
        f"ledger {_ok(told['ledger']['answers'])}, last receipt {told['ledger']['last_receipt']}, "
        + ("nothing charged yet" if charge is None else f"{charge:g} ms a charge (median of 100)")
    )
    for listener, states in told["sessions"].items():
        yield f"{listener}: " + ", ".join(
            f"{number} {state.replace('_', ' ')}" for state, number in states.items()
        )
    versions = [f"shadow {told['shadow']['postgresql']}", f"ledger {told['ledger']['postgresql']}"]
    versions += [f"{one['database']} {one['postgresql']}" for one in told["databases"]]
    yield "PostgreSQL: " + ", ".join(versions)
    for one in told["databases"]:
        yield from (f"{one['database']}: {line}" for line in _warnings(one))
    if told["stuck_sessions"]:
        yield f"{told['stuck_sessions']} sessions of the shadow do not end"


def _warnings(one: Mapping[str, Any]) -> Iterator[str]:
    near = list(one["budgets_nearly_spent"])
    for kind in ("analysts", "groups"):
        if number := one[f"{kind}_nearly_spent"]:
            near.append(f"{number} of {kind}")
    if near:
        yield f"budgets at 80 % or more: {', '.join(near)}"
    if one["tables_changed"]:
        yield f"tables that changed, and are not asked: {', '.join(one['tables_changed'])}"
    for publication in one["publications"]:
        if publication["is_stopped"]:
            yield f"published.{publication['table']} has stopped: `dpproxy publish list` says why"
        elif publication["is_due"]:
            yield f"published.{publication['table']} is due"


def _ok(answers: bool) -> str:
    return "ok" if answers else "AWAY"


def _pool(pool: Mapping[str, int]) -> str:
    return f"{pool['used']} of {pool['limit']}"


def _span(seconds: int) -> str:
    """
    >>> _span(59), _span(3600 * 76), _span(61)
    ('59 s', '3 d 4 h', '1 min 1 s')
    """
    units = [("d", 86400), ("h", 3600), ("min", 60), ("s", 1)]
    parts: list[str] = []
    for name, size in units:
        number, seconds = divmod(seconds, size)
        if number or parts or name == "s":
            parts.append(f"{number} {name}")
    return " ".join(parts[:2])
