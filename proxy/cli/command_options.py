"""Options that several commands have."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from proxy.cli.state import SERVE_STATE


class TlsUse(str, Enum):
    REQUIRED = "required"
    OPTIONAL = "optional"
    OFF = "off"


_STATE_HELP = "Folder of the embedded PostgreSQL servers, the ledger among them."
Listen = Annotated[str, typer.Option(help="HOST:PORT for PostgreSQL clients.", metavar="HOST:PORT")]
Http = Annotated[str, typer.Option(help="HOST:PORT for HTTP.", metavar="HOST:PORT")]
State = Annotated[
    Path | None,
    typer.Option(
        help=_STATE_HELP, metavar="DIR", show_default=f"{SERVE_STATE} in the current folder"
    ),
]
DemoState = Annotated[
    Path | None,
    typer.Option(help=_STATE_HELP, metavar="DIR", show_default=".state/demo"),
]
LedgerDsn = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--ledger",
        help="Connection string of a database for the ledger, which several processes can share;"
        " left out: a server of its own in the state folder.",
        metavar="DSN",
        envvar="DPPROXY_LEDGER",
    ),
]
PgBin = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        help="Folder of another PostgreSQL's programs for the shadow, best of the protected server's version.",
        metavar="DIR",
        envvar="DPPROXY_PG_BIN",
    ),
]
TlsCert = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="Certificate in PEM, for both listeners.", metavar="FILE"),
]
TlsKey = Annotated[Optional[Path], typer.Option(help="Its key in PEM.", metavar="FILE")]  # noqa: UP045
Tls = Annotated[
    Optional[TlsUse],  # noqa: UP045
    typer.Option(
        help="'required' (the default with a certificate) refuses PostgreSQL sessions in plain text; HTTP is"
        " https only wherever there is a certificate. 'off' serves plain text beyond loopback too.",
        show_default=False,
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]
PolicyFiles = Annotated[
    list[Path],
    typer.Option("--policy", help="A policy in YAML; once per database.", metavar="FILE"),
]
