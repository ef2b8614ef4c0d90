"""`dpproxy policy samples`: sample policies to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from proxy.cli.cli_error import CliError


def policy_samples(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="The sample to print. Without a name: list all samples."),
    ] = None,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Write its files into this folder. Existing files are kept.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """List the sample policies; print one with its schema and rows, or copy it into a folder."""
    from proxy.cli.sample_policies import copy_sample, sample_policies, sample_policy
    from proxy.cli.text_table import text_table
    from proxy.policy_file.policy_schema import SCHEMA_FILE

    if name is None:
        if to is not None:
            raise CliError("--to needs the name of a sample: dpproxy policy samples NAME --to DIR")
        rows = [[sample.name, sample.summary] for sample in sample_policies()]
        typer.echo("\n".join(text_table(["sample", "what it shows"], rows)))
        typer.echo("\nCopy one: dpproxy policy samples NAME --to DIR")
        return
    sample = sample_policy(name)
    if to is None:
        for file, text in sample.files().items():
            if file != SCHEMA_FILE:
                typer.echo(f"{'--' if file.endswith('.sql') else '#'} === {file}\n{text}")
        return
    copy_sample(sample, to)
    typer.echo(f"copied the sample {sample.name} to {to}: {', '.join(sample.files())}")
