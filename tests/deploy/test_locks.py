"""The image installs what is locked: all that pyproject.toml wants, each by hash, from wherever pip looks."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.files import DEPLOY, ROOT, dockerfile

_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)((?: ; [^\\]+)?) \\$")
_HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def _locked(name: str) -> dict[str, str]:
    """Version by name. Each line is understood, and each package has a hash."""
    found: dict[str, str] = {}
    has_hash = True
    for line in (DEPLOY / f"{name}.lock").read_text().splitlines():
        if line.startswith("#") or not line:
            continue
        if (entry := _LOCKED.match(line)) is not None:
            assert has_hash, line
            has_hash = False
            found[canonicalize_name(entry[1])] = entry[2]
        else:
            assert _HASH.match(line), line
            has_hash = True
    assert has_hash and found
    return found


def _wanted() -> list[Requirement]:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [Requirement(one) for one in project["dependencies"]]


def test_locks_fit_what_is_wanted() -> None:
    locked, wanted = _locked("requirements"), _wanted()
    image = {"platform_system": "Linux", "python_version": "3.11"}
    assert len(wanted) > 10
    for requirement in wanted:
        if requirement.marker is None or requirement.marker.evaluate(image):
            version = locked[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), (str(requirement), "make lock")
    built = [Requirement(one) for one in (DEPLOY / "build.in").read_text().splitlines()[1:]]
    for requirement in built:
        version = _locked("build")[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version)


@pytest.mark.parametrize("name", ["requirements", "build"])
def test_locks_name_no_place(name: str) -> None:
    text = (DEPLOY / f"{name}.lock").read_text()
    assert "//" not in text and "--index" not in text and "--find-links" not in text
    assert _locked(name)


def test_the_image_installs_by_hash_alone() -> None:
    lines = [one.rest for one in dockerfile() if one.word == "RUN" and "pip " in one.rest]
    installs = [
        part
        for line in lines
        for part in re.split(r"&&", line)
        if re.search(r"pip (install|wheel)", part)
    ]
    assert len(installs) == 4
    for part in installs:
        assert "--no-deps" in part
        locked = "--require-hashes" in part and re.search(r"-r (requirements|build)\.lock", part)
        ours = "--no-index" in part or "--no-build-isolation" in part
        assert locked or ours, part
