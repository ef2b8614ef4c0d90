"""`dpproxy policy init` and `dpproxy policy schema`: a first policy, and what an editor knows of policies."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Annotated, Optional

import typer

from proxy.cli.cli_error import CliError


def policy_init(
    dsn: Annotated[
        str,
        typer.Argument(
            help="libpq connection string of the database; passwords better in PGPASSWORD or a passfile.",
            metavar="DSN",
        ),
    ],
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write it into this file, which must not exist.", metavar="FILE"),
    ] = None,
) -> None:
    """Write a first policy for a database, from what is declared in it: no row is read, and no right to
    read tables is needed. What you have to decide is marked DECIDE."""
    from proxy.doctor.declared_database import declared_database
    from proxy.drafting.drafted_policy import NothingToDraft, drafted_policy
    from proxy.policy_file.policy_schema import SCHEMA_FILE

    if to is not None and to.exists():
        raise CliError(f"{to} is there already: choose another name, or compare with `policy diff`")
    found = declared_database(dsn)
    variable = variable_of(found.name)
    try:
        draft = drafted_policy(found, variable)
    except NothingToDraft as reason:
        why = str(reason) or "it has no table of its own"
        raise CliError(f"database {found.name}: nothing to write a policy for: {why}") from None
    if to is None:
        typer.echo(draft.text, nl=False)
    else:
        try:
            to.write_text(draft.text, encoding="utf-8")
        except OSError as error:
            raise CliError(f"{to}: {error.strerror}") from None
    file = shlex.quote(str(to or f"{found.name}.yaml"))
    typer.echo(
        f"{len(draft.decisions)} decisions are yours, each marked DECIDE in the file:", err=True
    )
    for number, decision in enumerate(draft.decisions, start=1):
        typer.echo(f"  {number}. {decision}", err=True)
    typer.echo(
        f"Then: export {variable}='the connection string'; dpproxy policy check {file}\n"
        f"Your editor explains keys with: dpproxy policy schema > {SCHEMA_FILE}",
        err=True,
    )


def policy_schema() -> None:
    """Print the JSON Schema of policies, for editors: a policy's first line names the file that it is in."""
    from proxy.policy_file import policy_schema as schemas

    typer.echo(json.dumps(schemas.policy_schema(), indent=2))


def variable_of(database: str) -> str:
    """
    >>> variable_of("shop"), variable_of("3 shops")
    ('SHOP_DSN', 'DB_3_SHOPS_DSN')
    """
    name = re.sub(r"[^A-Z0-9]+", "_", database.upper()).strip("_") or "DATABASE"
    return f"DB_{name}_DSN" if name[0].isdigit() else f"{name}_DSN"
