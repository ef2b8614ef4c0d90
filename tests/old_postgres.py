"""PostgreSQL's programs under another version number, as `postgres --version` prints it."""

from __future__ import annotations

from pathlib import Path

from proxy.postgres.postgres_binaries import find_binaries


def programs_of_version(folder: Path, version: str) -> Path:
    """Make a folder of programs that work as the installed ones do and say that they are `version`."""
    installed = find_binaries().postgres.resolve()  # not what stands in for initdb (initdb_once)
    programs = folder / f"postgresql {version.partition(' ')[0]}"
    programs.mkdir()
    for program in installed.parent.iterdir():
        (programs / program.name).symlink_to(program)
    (programs / "postgres").unlink()
    (programs / "postgres").write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "postgres (PostgreSQL) {version}" && exit\n'
        f'exec {installed} "$@"\n'
    )
    (programs / "postgres").chmod(0o755)
    return programs
