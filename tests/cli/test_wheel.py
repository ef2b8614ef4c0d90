"""The built wheel has what the demo needs, and what messages name: it runs in an empty folder, far from any
checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.policy_file.policy_manual import MANUAL
from proxy.protected.protected_role import SCRIPT
from tests.cli.messages import named_commands, named_files
from tests.deploy.files import commands
from tests.initdb_once import real_programs

_ROOT = Path(__file__).parents[2]
_WHERE = "import proxy; print(proxy.__path__[0])"
_RUN = "from proxy.cli.main import main; main()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel was installed, beside an empty one."""
    folder = tmp_path_factory.mktemp("wheel")
    source, built, installed, empty = (folder / name for name in ("source", "built", "in", "empty"))
    empty.mkdir()
    shutil.copytree(_ROOT / "proxy", source / "proxy", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, source)
    # Without isolation: what builds it is here, and no package index is asked.
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(source)]
    _run(build, folder)
    assert len(list(built.glob("*.tar.gz"))) == 1
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    _run([*pip, "--no-deps", "--target", str(installed), str(wheel)], folder)
    return installed


def test_the_wheel_has_what_it_needs(installed: Path) -> None:
    empty = installed.parent / "empty"
    assert _run([sys.executable, "-c", _WHERE], empty, installed).strip() == str(
        installed / "proxy"
    )
    for command, page in (("manual", MANUAL), ("role", SCRIPT)):
        printed = _run([sys.executable, "-c", _RUN, "policy", command], empty, installed)
        assert printed == page.read_text(encoding="utf-8")
    there = [path.as_posix() for path in installed.rglob("*")]
    for where, named in named_files():
        assert any(path.endswith(f"/{named}") for path in there), f"{where} names {named}"


@pytest.mark.long
def test_the_demo_runs_from_the_wheel(installed: Path) -> None:
    done = _run(
        [sys.executable, "-c", _RUN, "demo", "--check"], installed.parent / "empty", installed
    )
    assert "all checks passed" in done


def test_commands_that_messages_name_are_there() -> None:
    paths = {tuple(path.split()) for path, _ in commands()}
    found = list(named_commands())
    assert len(found) > 10
    for where, named in found:
        words = tuple(named.split())
        is_there = any(words[: len(path)] == path for path in paths)
        assert is_there or ((words[0],) in {path[:1] for path in paths} and len(words) == 1), (
            f"{where} names dpproxy {named}"
        )


def _run(command: list[str], folder: Path, path: Path | None = None) -> str:
    environment = {
        **os.environ,
        **real_programs(),
        **({} if path is None else {"PYTHONPATH": str(path)}),
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
