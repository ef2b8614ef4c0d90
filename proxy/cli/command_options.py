"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Listen = Annotated[str, typer.Option(help="HOST:PORT for PostgreSQL clients.", metavar="HOST:PORT")]
Http = Annotated[str, typer.Option(help="HOST:PORT for HTTP.", metavar="HOST:PORT")]
State = Annotated[
    Path | None,
    typer.Option(help="Folder of the embedded PostgreSQL servers.", metavar="DIR"),
]
ShadowDsn = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Superuser's connection string of a PostgreSQL server to hold the shadows.",
        metavar="DSN",
        envvar="DPPROXY_SHADOW",
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]
PolicyFiles = Annotated[
    list[Path],
    typer.Option("--policy", help="A policy in YAML; once per database.", metavar="FILE"),
]
