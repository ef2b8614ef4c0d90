"""The built wheel has what the demo needs, and what messages name: it runs in an empty folder, far from any
checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from proxy.policy_file.policy_schema import MANUAL
from proxy.protected.reading_settings import SCRIPT
from tests.cli.messages import named_commands, named_files
from tests.deploy.files import commands
from tests.initdb_once import real_programs

_ROOT = Path(__file__).parents[2]
_RUN = "from proxy.cli.main import main; main()"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel was unpacked, beside an empty one."""
    folder = tmp_path_factory.mktemp("wheel")
    unpacked = folder / "in"
    (folder / "empty").mkdir()
    with zipfile.ZipFile(_built(folder, "--wheel")) as wheel:
        wheel.extractall(unpacked)
    return unpacked


def _built(folder: Path, *what: str) -> Path:
    """The wheel. Without isolation: what builds it is here, and no package index is asked."""
    source, built = folder / "source", folder / "built"
    _copy_source(source)
    build = [sys.executable, "-m", "build", "--no-isolation", *what]
    _run([*build, "--outdir", str(built), str(source)], folder)
    (wheel,) = built.glob("*.whl")
    return wheel


def test_the_wheel_has_what_it_needs(unpacked: Path) -> None:
    for page in (MANUAL, SCRIPT):
        shipped = unpacked / page.relative_to(_ROOT)
        assert shipped.read_bytes() == page.read_bytes(), "what a command prints"
    there = [path.as_posix() for path in unpacked.rglob("*")]
    for where, named in named_files():
        assert any(path.endswith(f"/{named}") for path in there), f"{where} names {named}"


@pytest.mark.long
def test_what_is_built_from_the_source_archive_is_the_same(unpacked: Path, tmp_path: Path) -> None:
    wheel = _built(tmp_path)
    (archive,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {f"policies/{path}" for path in _files(_ROOT / "policies")} <= names
    installed = tmp_path / "in"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    _run([*pip, "--no-deps", "--no-compile", "--target", str(installed), str(wheel)], tmp_path)
    assert _files(installed / "proxy") == _files(unpacked / "proxy")
    for command, page in (("manual", MANUAL), ("role", SCRIPT)):
        printed = _run([sys.executable, "-c", _RUN, "policy", command], tmp_path, installed)
        assert printed == page.read_text(encoding="utf-8")


@pytest.mark.long
def test_samples_of_the_wheel(unpacked: Path) -> None:
    """Also where the wheel is only unpacked, which runs nothing of it."""
    assert not (unpacked / "policies").exists(), "a name of its own in site-packages"
    assert _files(unpacked / "proxy" / "policies") == _files(_ROOT / "policies")
    _check_samples([sys.executable, "-c", _RUN], unpacked.parent, unpacked)


@pytest.mark.long
def test_samples_of_an_editable_install(tmp_path: Path) -> None:
    """With a source, an environment and a finder of its own."""
    source, prefix = tmp_path / "source", tmp_path / "prefix"
    _copy_source(source)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    # Without --ignore-installed pip would remove the installation that runs this test.
    apart = ["--ignore-installed", "--no-deps", "--no-build-isolation", "--prefix", str(prefix)]
    _run([*pip, *apart, "-e", str(source)], tmp_path)
    assert distribution("dpproxy").version, "the environment of the tests is as it was"
    (finder,) = prefix.rglob("__editable__*.pth")
    _check_samples(_isolated(f"import site; site.addsitedir({str(finder.parent)!r})"), tmp_path)


@pytest.mark.long
def test_samples_of_a_checkout_that_is_not_installed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    _copy_source(source)
    _check_samples(_isolated(f"sys.path.insert(0, {str(source)!r})"), tmp_path)


@pytest.mark.long
def test_the_demo_runs_from_the_wheel(unpacked: Path) -> None:
    done = _run(
        [sys.executable, "-c", _RUN, "demo", "--check"], unpacked.parent / "empty", unpacked
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


def _copy_source(source: Path) -> None:
    """What a wheel is built from."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("proxy", "policies"):
        shutil.copytree(_ROOT / name, source / name, ignore=unwanted)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, source)


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _isolated(path: str) -> list[str]:
    """Python without this environment's own installation of dpproxy, but with its dependencies."""
    dependencies = sysconfig.get_path("purelib")
    setting = f"import sys; sys.path.append({dependencies!r}); {path}"
    return [sys.executable, "-S", "-c", f"{setting}; {_RUN}"]


def _check_samples(program: list[str], folder: Path, path: Path | None = None) -> None:
    """All are listed, and one is copied as the checkout has it."""
    empty, copied = folder / "empty", folder / "copied"
    empty.mkdir(exist_ok=True)
    names = {file.parent.name for file in (_ROOT / "policies").glob("*/policy.yaml")}
    listed = _run([*program, "policy", "samples"], empty, path)
    assert names <= set(listed.split())
    _run([*program, "policy", "samples", "clinic", "--to", str(copied)], empty, path)
    for file in ("schema.sql", "rows.sql", "queries.sql"):
        original = (_ROOT / "policies" / "clinic" / file).read_text(encoding="utf-8")
        assert (copied / file).read_text(encoding="utf-8") == original


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
