"""`make test-majors`: on each major of PostgreSQL that can be had, hostile rows raise nothing, and analysts get
what they get on the embedded one. A part of the suite runs in a process of its own, with that major's programs
for the protected server and for the shadow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.postgres.postgres_binaries import OLDEST_MAJOR
from tests.postgres_majors import by_major

pytestmark = pytest.mark.long

_ROOT = Path(__file__).parents[2]
_NEWEST_MAJOR = 18
_TESTS = (
    *(
        "tests/never_raise",
        "tests/compiler",
        "tests/databases/test_catalog_reader.py",
        "tests/databases/test_covering_index.py",
    ),
    *("tests/live/test_first_steps.py", "tests/live/test_columns.py"),
    *("tests/live/test_joins_by_truncation.py", "tests/live/test_psycopg.py"),
)
_HAD = by_major()


def _environment(major: int) -> dict[str, str]:
    """The programs themselves; the inner run makes links of its own (tests/initdb_once.py)."""
    given = {name: value for name, value in os.environ.items() if name != "DPPROXY_TESTS_INITDB"}
    folder = (_HAD[major].folder / "postgres").resolve().parent
    return {**given, "DPPROXY_PG_BIN": str(folder)}


@pytest.mark.parametrize("major", range(OLDEST_MAJOR, _NEWEST_MAJOR + 1))
def test_major(major: int) -> None:
    if major not in _HAD:
        pytest.skip(f"no PostgreSQL {major} is here; DPPROXY_OTHER_PG_BINS names folders")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            "not long",
            "-n",
            "2",
            "--dist",
            "loadfile",
            *_TESTS,
        ],
        cwd=_ROOT,
        env=_environment(major),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    print(f"PostgreSQL {major}: {done.stdout.splitlines()[-1]}")
