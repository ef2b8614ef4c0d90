"""deploy/dpproxy.service: systemd takes it, it is as closed as the page says, and starts what there is."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.cli.open_files import needed_files
from proxy.postgres import postgres_launcher
from tests.deploy.files import DEPLOY, accepted, unit

_README = (DEPLOY / "README.md").read_text()
_NO = ("no", "false", "off", "0")


def test_it_starts_a_command_that_there_is_in_a_folder_that_systemd_makes() -> None:
    service = unit()["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program == "/opt/dpproxy/bin/dpproxy"
    given = accepted(words)
    assert given["state"] == Path("/var/lib") / service["StateDirectory"]
    assert given["listen"].startswith("127.0.0.1:")
    assert given["http"].startswith("127.0.0.1:")
    assert service["User"] not in ("", "root", "0")


def test_no_password_is_in_the_environment() -> None:
    service = unit()["Service"]
    assert "EnvironmentFile" not in service and "Environment" not in service
    name, _, file = service["LoadCredential"].partition(":")
    assert file == f"/etc/dpproxy/{name}"
    assert file in _README


def test_it_allows_the_files_that_serving_needs() -> None:
    assert int(unit()["Service"]["LimitNOFILE"]) >= needed_files(8)


def test_it_allows_what_the_walls_of_the_shadow_are_put_up_with() -> None:
    calls = re.findall(
        r"\blandlock_(?:create|add|restrict)_\w+", inspect.getsource(postgres_launcher)
    )
    assert len(set(calls)) == 3
    assert set(calls) <= set(unit()["Service"]["SystemCallFilter"].split())


def test_it_holds_what_the_page_claims() -> None:
    service = unit()["Service"]
    said = re.search(r"<!-- hardening -->(.*?)<!-- end -->", _README, re.DOTALL)
    assert said is not None
    claimed = dict(line.split("=", 1) for line in re.findall(r"`(\w+=[^`]*)`", said[1]))
    assert len(claimed) >= 15
    for key, value in claimed.items():
        assert service[key] == value
        assert value.lower() not in _NO
    assert service["CapabilityBoundingSet"] == ""


def test_systemd_takes_it(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not on this machine")
    # verify wants the program to be there: another one that is stands in its place.
    text = (DEPLOY / "dpproxy.service").read_text()
    copy = tmp_path / "dpproxy.service"
    copy.write_text(text.replace("/opt/dpproxy/bin/dpproxy", sys.executable))
    done = subprocess.run(
        [program, "verify", "--man=no", copy], capture_output=True, text=True, check=False
    )
    assert (done.returncode, str(copy) in done.stderr) == (0, False), done.stderr
    copy.write_text(copy.read_text().replace("ProtectSystem=", "ProtectSytsem="))
    done = subprocess.run(
        [program, "verify", "--man=no", copy], capture_output=True, text=True, check=False
    )
    assert "ProtectSytsem" in done.stderr, "it does not look"
