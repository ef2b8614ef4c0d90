"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Listen = Annotated[str, typer.Option(help="HOST:PORT for PostgreSQL clients.", metavar="HOST:PORT")]
Http = Annotated[str, typer.Option(help="HOST:PORT for HTTP.", metavar="HOST:PORT")]
State = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the embedded PostgreSQL servers, the ledger among them.", metavar="DIR"
    ),
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
PolicyFile = Annotated[Path, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]
PolicyFiles = Annotated[
    list[Path],
    typer.Option("--policy", help="A policy in YAML; once per database.", metavar="FILE"),
]
