"""`dpproxy prepare`: the SQL by which the data owner makes prepared copies."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import PolicyFile


def prepare(
    policy: PolicyFile,
    table: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Only this table, as schema.table.", metavar="TABLE"),
    ] = None,
    rows: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="So many rows of each unit are copied. Default: the table's max_rows_per_unit.",
            metavar="K",
            min=1,
            max=1_000_000,
        ),
    ] = None,
) -> None:
    """Print the SQL that makes the prepared copies of a policy, and makes them anew.

    You run it as the owner of the tables: dpproxy never writes to your database. It reads the catalogue alone.
    """
    from proxy.cli.loading import load_policy
    from proxy.cli.source_variables import SourceVariables
    from proxy.compiler.copy_view import copy_script
    from proxy.policy.policy_model import UNIT_OF_COPY
    from proxy.protected.source_secrets import role_of

    checked = load_policy(policy, SourceVariables())
    named = [one for one in checked.policy.protected() if one.prepared is not None]
    wanted = [one for one in named if table in (None, str(one.name))]
    if not wanted:
        of = "no table" if table is None else f"no protected table {table}"
        copy = f"dp.{'events' if table is None else table.rpartition('.')[2]}"
        raise CliError(
            f"{policy} has {of} with `prepared`: add it to the table: prepared: {{table: {copy}, max_age: 24h}}"
        )
    for one in wanted:
        bound = rows or (None if one.chooses_rows else one.max_rows_per_unit)
        if bound is None:
            raise CliError(
                f"table {one.name} has no fixed max_rows_per_unit: say how many rows of each unit are copied:"
                f" --table {one.name} --rows 100"
            )
        script = copy_script(one, checked.catalog, bound, role_of(checked.policy.source))
        if script is None:
            raise CliError(
                f"no copy can be made of table {one.name}: it has no primary key, or a column called slot or"
                f" {UNIT_OF_COPY}"
            )
        typer.echo(script)
