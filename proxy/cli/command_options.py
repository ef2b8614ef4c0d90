"""Options that several commands have, and those of the query log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from proxy.cli.state import SERVE_STATE

# What `serve` writes of statements on protected tables: the options of its query log.


class LoggedQueries(str, Enum):
    PROTECTED = "protected"
    NONE = "none"


class LoggedAnalysts(str, Enum):
    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLogging:
    """The demo writes none. traces: whether spans go to a collector."""

    queries: LoggedQueries = LoggedQueries.NONE
    analysts: LoggedAnalysts = LoggedAnalysts.NAME
    traces: bool = False


class TlsUse(str, Enum):
    REQUIRED = "required"
    OPTIONAL = "optional"
    OFF = "off"


_STATE_HELP = (
    "Folder of the embedded servers: the ledger, which lasts, and the shadow, which is made anew."
    " Always give it to a service."
)
Listen = Annotated[str, typer.Option(help="HOST:PORT for PostgreSQL clients.", metavar="HOST:PORT")]
Http = Annotated[str, typer.Option(help="HOST:PORT for HTTP.", metavar="HOST:PORT")]
State = Annotated[
    Path | None,
    typer.Option(
        help=_STATE_HELP, metavar="DIR", show_default=f"{SERVE_STATE} in the current folder"
    ),
]
DemoState = Annotated[
    Path | None, typer.Option(help=_STATE_HELP, metavar="DIR", show_default=".state/demo")
]
LedgerDsn = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="Connection string of a database for the ledger, which several processes can share;"
        " left out: a server of its own in the state folder.",
        metavar="DSN",
        envvar="DPPROXY_LEDGER",
    ),
]
PgBin = Annotated[
    Path | None,
    typer.Option(
        help="Folder of another PostgreSQL's programs (14 or newer) for the shadow: in production that"
        " of the distribution.",
        metavar="DIR",
        envvar="DPPROXY_PG_BIN",
    ),
]
ShadowUser = Annotated[
    str | None,
    typer.Option(
        help="User of the operating system that the shadow runs as, and nothing else. Needs a start as root.",
        metavar="NAME",
    ),
]
TlsCert = Annotated[
    Path | None,
    typer.Option(
        help="Certificate in PEM, for both listeners. Left out: plain text, on loopback only. Read at"
        " the start, and when both files have changed.",
        metavar="FILE",
    ),
]
TlsKey = Annotated[Path | None, typer.Option(help="Its key in PEM.", metavar="FILE")]
Tls = Annotated[
    TlsUse | None,
    typer.Option(
        help="'required' (the default with a certificate) refuses PostgreSQL sessions in plain text; HTTP is"
        " https only wherever there is a certificate. 'off' serves plain text beyond loopback too.",
        show_default=False,
    ),
]
ClientCa = Annotated[
    Path | None,
    typer.Option(
        help="Certificates, in PEM, that those of PostgreSQL clients are signed by. Needs"
        " --client-rules and --tls-cert.",
        metavar="FILE",
    ),
]
ClientRules = Annotated[
    Path | None, typer.Option(help="Rules: which certificate lets whom in.", metavar="FILE")
]
OidcIssuer = Annotated[
    str | None, typer.Option(help="OpenID Connect provider whose tokens HTTP takes.", metavar="URL")
]
OidcAudience = Annotated[
    str | None,
    typer.Option(help="For whom its tokens must be. Required with --oidc-issuer.", metavar="TEXT"),
]
OidcClaim = Annotated[str, typer.Option(help="Claim that has the analyst's name.", metavar="NAME")]
OidcKeys = Annotated[
    str | None,
    typer.Option(
        help="The provider's keys (JWKS); left out: where its configuration says.", metavar="URL"
    ),
]
OidcLifetime = Annotated[
    int,
    typer.Option(
        help="Longest lifetime of its tokens, in seconds, from their issue to their end.",
        metavar="SECONDS",
        min=60,
    ),
]
OidcCa = Annotated[
    Path | None,
    typer.Option(
        help="Certificates, in PEM, to trust for the provider. Left out: the system's.",
        metavar="FILE",
    ),
]
Admin = Annotated[
    str | None,
    typer.Option(
        help="HOST:PORT for the API of administrators. Left out: there is none.",
        metavar="HOST:PORT",
    ),
]
AdminSecrets = Annotated[
    Path | None,
    typer.Option(
        help="Lines NAME SECRET of administrators, mode 0600; a secret has at least 32 characters.",
        metavar="FILE",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        help="HOST:PORT for GET /metrics alone, without a secret. On loopback, unless there is a certificate.",
        metavar="HOST:PORT",
    ),
]
ProxyProtocolFrom = Annotated[
    list[str] | None,
    typer.Option(
        help="Balancers of PostgreSQL clients, which begin each connection with a header of the PROXY protocol,"
        " version 2; nobody else may. Once per network.",
        metavar="NETWORK",
        show_default=False,
    ),
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(
        help="Proxies in front of HTTP, whose X-Forwarded-For is believed. Once per network.",
        metavar="NETWORK",
        show_default=False,
    ),
]
LogQueries = Annotated[
    LoggedQueries,
    typer.Option(help="Of which statements a line is written when they end, without their text."),
]
Mcp = Annotated[
    bool,
    typer.Option("--mcp", help="Serve agents at /mcp of the HTTP listener. Needs dpproxy[mcp]."),
]
CorsOrigin = Annotated[
    list[str] | None,
    typer.Option(
        help="Origin of a site whose pages may ask /v1, such as https://app.example, once per origin.",
        metavar="ORIGIN",
    ),
]
LogAnalysts = Annotated[
    LoggedAnalysts,
    typer.Option(help="How these lines call analysts: by name, or by number in the ledger."),
]
Traces = Annotated[
    bool,
    typer.Option(
        "--traces",
        help="Send spans of statements, with exact times, to the OpenTelemetry collector that"
        " OTEL_EXPORTER_OTLP_ENDPOINT names. Needs the packages of dpproxy[otel].",
    ),
]
DrainDelay = Annotated[
    float | None,
    typer.Option(
        help="Seconds from SIGTERM until the listeners close. /readyz says 'draining' meanwhile.",
        metavar="SECONDS",
        min=0,
        max=3600,
        show_default="5, or 0 where all listeners are on loopback",
    ),
]
Grace = Annotated[
    float,
    typer.Option(
        help="Seconds from then on for statements and transactions that run. Later they are ended with"
        " 57P01, and stay charged.",
        metavar="SECONDS",
        min=0,
        max=3600,
    ),
]
MOST_WORKERS = 32
Workers = Annotated[
    int,
    typer.Option(
        help="Processes that serve the same ports, each with a shadow of its own. About one per core.",
        metavar="NUMBER",
        min=1,
        max=MOST_WORKERS,
    ),
]
Sessions = Annotated[
    int,
    typer.Option(
        help="PostgreSQL sessions at once, of each worker. An idle one takes 1.8 MiB, a busy one up to 64.",
        metavar="NUMBER",
        min=1,
        max=1000,
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]
PolicyFiles = Annotated[
    list[Path],
    typer.Option("--policy", help="A policy in YAML; once per database.", metavar="FILE"),
]
