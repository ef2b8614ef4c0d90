"""A plan is no matter of the process that makes it: sets have another order in each (PYTHONHASHSEED)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.long
def test_each_golden_statement_is_planned_alike() -> None:
    command = [sys.executable, "-m", "tests.planner.planned_elsewhere"]
    running = [
        subprocess.Popen(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in ("1", "2", "3")
    ]
    first, *others = [json.loads(one.communicate()[0]) for one in running]
    assert len(first) > 600
    differing = {
        place for place, made in first.items() if any(other[place] != made for other in others)
    }
    assert not differing
