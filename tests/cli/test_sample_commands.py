"""`dpproxy policy samples`: what it lists, prints and copies, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from proxy.cli import sample_policies as samples
from proxy.cli.cli_error import CliError
from proxy.policy_file.policy_schema import policy_schema
from tests.cli.commands import dpproxy
from tests.samples import ALL_SAMPLES
from tests.servers_fixture import servers

_PAGE = Path(__file__).parents[2] / "policies" / "README.md"


def test_it_lists_each_with_a_line() -> None:
    lines = dpproxy("policy", "samples").out.splitlines()
    for sample in ALL_SAMPLES:
        assert any(line.split() == [sample.name, *sample.summary.split()] for line in lines)


@pytest.mark.parametrize("sample", ALL_SAMPLES, ids=lambda sample: sample.name)
def test_it_prints_policy_schema_and_rows(sample: samples.SamplePolicy) -> None:
    done = dpproxy("policy", "samples", sample.name)
    assert done.code == 0, done.err
    policy = sample.policy_file.read_text("utf-8").partition("\n")[2]
    for text in (policy, sample.schema, sample.rows):
        assert text in done.out


def test_it_copies_what_an_editor_and_psql_need(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "clinic"
    done = dpproxy("policy", "samples", "clinic", "--to", folder)
    assert done.code == 0, done.err
    first, rest = (folder / "policy.yaml").read_text("utf-8").split("\n", 1)
    assert first == "# yaml-language-server: $schema=policy.schema.json"
    assert json.loads((folder / "policy.schema.json").read_text("utf-8")) == policy_schema()
    original = samples.sample_policy("clinic")
    assert rest == original.policy_file.read_text("utf-8").partition("\n")[2]
    assert (folder / "schema.sql").read_text("utf-8") == original.schema
    assert (folder / "rows.sql").read_text("utf-8") == original.rows


@pytest.mark.parametrize("file", ["policy.yaml", "rows.sql", "policy.schema.json"])
def test_it_overwrites_nothing(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text("mine")
    done = dpproxy("policy", "samples", "shop", "--to", tmp_path)
    assert done.code == 1
    assert f"{tmp_path / file} is there already" in done.err
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert (tmp_path / file).read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing",), 'there is no sample "nothing": choose one of census, clinic, '),
        (("../policies/shop",), "there is no sample"),
        (("--to", "x"), "--to needs the name of a sample"),
        (("shop", "--to", "/proc/x"), "/proc/x"),
    ],
)
def test_what_cannot_be_copied(arguments: tuple[str, ...], told: str) -> None:
    done = dpproxy("policy", "samples", *arguments)
    assert done.code == 1
    assert told in done.err
    assert "Traceback" not in done.err


def test_an_installation_without_samples_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_PLACES", (tmp_path / "proxy" / "policies",))
    with pytest.raises(CliError, match="no sample policies in"):
        samples.sample_policies()


@pytest.mark.long
def test_the_three_commands_of_the_page(tmp_path: Path) -> None:
    """As they stand in policies/README.md, in a shell whose psql finds the test's server."""
    if shutil.which("psql") is None or shutil.which("createdb") is None:
        pytest.skip("there is no psql or createdb")
    (block,) = re.findall(r"^```sh\n(.*?)^```$", _PAGE.read_text("utf-8"), re.M | re.S)
    assert len(re.findall(r"^\S", block, re.M)) == 3
    server = servers().protected
    reached = conninfo_to_dict(server.dsn())
    command = tmp_path / "bin" / "dpproxy"
    command.parent.mkdir()
    program = "from proxy.cli.main import main; main()"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{program}" "$@"\n')
    command.chmod(0o700)
    variables = {
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(_PAGE.parents[1]),
        "PGHOST": str(reached["host"]),
        "PGPORT": str(reached["port"]),
        "PGUSER": str(reached["user"]),
        "PGPASSWORD": str(reached["password"]),
    }
    try:
        done = subprocess.run(
            ["sh", "-ec", block],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "95 % error" in done.stdout
    finally:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS clinic WITH (FORCE)")
            connection.execute("DROP ROLE IF EXISTS sample_reader")
