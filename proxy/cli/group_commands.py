"""`dpproxy user group`: groups of analysts, to which access and budgets can be given."""

from __future__ import annotations

import typer

from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.proxy_servers import ledger_only, warn_of_demo
from proxy.ledger.users import add_to_group, groups, remove_from_group

group = typer.Typer(
    no_args_is_help=True, help="Groups of analysts. A group is there while somebody is in it."
)


@group.command("add")
def group_add(group: str, name: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Put an analyst into a group."""
    with ledger_only(state, ledger) as dsn:
        add_to_group(dsn, group, name)
    warn_of_demo(state, ledger)
    typer.echo(f"added {name} to {group}")


@group.command("remove")
def group_remove(group: str, name: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Take an analyst out of a group; sessions that only the group allowed end within seconds."""
    with ledger_only(state, ledger) as dsn:
        remove_from_group(dsn, group, name)
    warn_of_demo(state, ledger)
    typer.echo(f"removed {name} from {group}")


@group.command("list")
def group_list(state: State = None, ledger: LedgerDsn = None) -> None:
    """The groups and who is in them."""
    with ledger_only(state, ledger) as dsn:
        for name, analysts in groups(dsn).items():
            typer.echo(f"{name}: {', '.join(analysts)}")
