"""The built wheel has what the demo needs: it runs in an empty folder, far from any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_WHERE = "import proxy; print(proxy.__path__[0])"
_DEMO = "import sys; sys.argv[1:] = ['demo', '--check']; from proxy.cli.main import main; main()"


def test_the_demo_runs_from_the_wheel(tmp_path: Path) -> None:
    built, installed, empty = tmp_path / "built", tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # Without isolation: setuptools is here, and no package index is asked.
    options = ["--no-deps", "--no-build-isolation"]
    source = tmp_path / "source"
    _run(["git", "clone", "--quiet", "--depth", "1", f"file://{_ROOT}", str(source)], tmp_path)
    _run([*pip, "wheel", *options, "--wheel-dir", str(built), str(source)], tmp_path)
    (wheel,) = built.glob("*.whl")
    _run([*pip, "install", "--no-deps", "--target", str(installed), str(wheel)], tmp_path)
    assert _run([sys.executable, "-c", _WHERE], empty, installed).strip() == str(
        installed / "proxy"
    )
    done = _run([sys.executable, "-c", _DEMO], empty, installed)
    assert "everything is as it must be" in done


def _run(command: list[str], folder: Path, path: Path | None = None) -> str:
    environment = {**os.environ, **({} if path is None else {"PYTHONPATH": str(path)})}
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
