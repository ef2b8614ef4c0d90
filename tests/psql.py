"""The program psql, where the machine has one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest


def psql(arguments: Sequence[str], text: str, password: str) -> str:
    """Output and errors in one, as psql prints them; no alignment. Skips the test where there is no psql."""
    program = shutil.which("psql")
    if program is None:
        pytest.skip("there is no psql")
    done = subprocess.run(
        [program, "-X", "-A", *arguments],
        input=text,
        env={**os.environ, "PGPASSWORD": password},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout
