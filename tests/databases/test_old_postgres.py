"""An old PostgreSQL under a shadow: each analyst can use its published holes, so it is found and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.doctor import installed_postgres
from proxy.doctor.installed_postgres import LEAST_SAFE_MINOR, installed_postgres_findings
from proxy.policy.finding_names import FindingName, Severity
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import OLDEST_MAJOR, find_binaries
from tests.initdb_once import real_programs
from tests.old_postgres import programs_of_version


def test_each_major_that_can_be_run_has_a_least_safe_minor() -> None:
    wheel = find_binaries().major
    assert LEAST_SAFE_MINOR.keys() >= set(range(OLDEST_MAJOR, wheel + 1))


@pytest.mark.parametrize(("major", "least"), LEAST_SAFE_MINOR.items())
def test_a_release_below_the_least_safe_one_is_found(
    major: int, least: int, tmp_path: Path
) -> None:
    (found,) = installed_postgres_findings(programs_of_version(tmp_path, f"{major}.{least - 1}"))
    assert found.name is FindingName.OLD_POSTGRESQL
    assert (
        f"PostgreSQL {major}.{least - 1}" in found.what
        and f"{major}.{least} has none" in found.what
    )
    assert "--pg-bin" in found.fix
    assert found.severity is Severity.SEVERE


def test_that_of_the_wheel_is_a_warning_behind_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    """No newer wheel exists: severe would leave nothing to start with."""
    for name, value in real_programs().items():
        monkeypatch.setenv(name, value)
    binaries = find_binaries()
    later = {**LEAST_SAFE_MINOR, binaries.major: binaries.minor + 1}
    monkeypatch.setattr(installed_postgres, "LEAST_SAFE_MINOR", later)
    for folder in (None, binaries.folder):
        (found,) = installed_postgres_findings(folder)
        assert found.name is FindingName.OLD_POSTGRESQL_OF_THE_WHEEL
        assert found.severity is Severity.WARNING
    monkeypatch.setattr(installed_postgres, "landlock_version", lambda: 0)
    (found,) = installed_postgres_findings()
    assert found.name is FindingName.OLD_POSTGRESQL_IN_THE_OPEN


def test_it_is_severe_where_nothing_keeps_the_shadow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_postgres, "landlock_version", lambda: 0)
    (found,) = installed_postgres_findings(programs_of_version(tmp_path, "18.1"))
    assert found.name is FindingName.OLD_POSTGRESQL_IN_THE_OPEN
    assert found.severity is Severity.SEVERE


@pytest.mark.parametrize(("major", "least"), LEAST_SAFE_MINOR.items())
@pytest.mark.parametrize("later", [0, 1])
def test_a_safe_release_is_not_found(major: int, least: int, later: int, tmp_path: Path) -> None:
    programs = programs_of_version(tmp_path, f"{major}.{least + later}")
    assert installed_postgres_findings(programs) == ()


@pytest.mark.parametrize("text", ["19beta2", "19.0", "20.3 (Debian 20.3-1)"])
def test_a_major_that_is_newer_than_the_table_is_not_found(text: str, tmp_path: Path) -> None:
    assert installed_postgres_findings(programs_of_version(tmp_path, text)) == ()


def test_a_beta_of_a_known_major_is_below_each_release(tmp_path: Path) -> None:
    assert len(installed_postgres_findings(programs_of_version(tmp_path, "18beta1"))) == 1


def test_no_programs_are_the_start_s_to_refuse(tmp_path: Path) -> None:
    assert installed_postgres_findings(tmp_path) == ()


@pytest.mark.xfail(
    strict=True, reason="the newest wheel of 2026-11-26 has 18.6; remove this line with 18.7"
)
def test_the_wheel_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in real_programs().items():
        monkeypatch.setenv(name, value)
    assert installed_postgres_findings() == ()


@pytest.mark.usefixtures("real_initdb")
@pytest.mark.long
def test_an_update_of_postgresql_makes_the_shadow_anew_from_its_own_initdb(tmp_path: Path) -> None:
    """What initdb of the older release made can lack a fix of the catalogue."""
    major = find_binaries().major
    made: list[int] = []
    for version in (f"{major}.90", f"{major}.90", f"{major}.91"):
        folder = tmp_path / f"{len(made)}"
        folder.mkdir()
        programs = programs_of_version(folder, version)
        server = EmbeddedPostgres(tmp_path, "s", pg_bin=programs, tcp=False, disposable=True)
        server.start()
        server.stop()
        made.append((server.home / "pristine" / "PG_VERSION").stat().st_mtime_ns)
    assert made[0] == made[1] < made[2]
