"""`make mutation`: mutants that nobody wrote, made by mutmut, of some files of `mechanisms` and `planner`.

    python -m tests.mutation                          # nine files, others each night
    python -m tests.mutation 2026-11-22               # those of that night
    python -m tests.mutation planner/truncation.py    # these; "all" takes every file

A mutant that survives the fast, pure tests has to be in `tests/mutation/equivalent.py`, with the reason why no
test can kill it; else a test is missing, and this fails.
"""

from __future__ import annotations

import random  # noqa: TID251 - which files, not noise
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.mutation.equivalent import EQUIVALENT

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("mechanisms", "planner")
_A_NIGHT = 9
_MUTMUT = Path(sys.executable).with_name("mutmut")
_OUTCOME = re.compile(r"^ *(proxy\.\S+__mutmut_\d+): ([a-z ]+)$", re.MULTILINE)


def files() -> list[str]:
    """All that can be mutated, as `planner/truncation.py`."""
    return sorted(
        f"{package}/{file.name}"
        for package in _PACKAGES
        for file in (_ROOT / "proxy" / package).glob("*.py")
        if file.name != "__init__.py"
    )


def chosen(arguments: Sequence[str], today: date) -> list[str]:
    """
    Given    nothing, a day, names of files, or "all"
    Gives    the files whose mutants are run
    """
    if list(arguments) == ["all"]:
        return files()
    if arguments and not re.fullmatch(r"\d{4}-\d\d-\d\d", arguments[0]):
        return list(arguments)
    day = arguments[0] if arguments else today.isoformat()
    return sorted(random.Random(day).sample(files(), _A_NIGHT))


def _mutmut(*arguments: str) -> str:
    command = [str(_MUTMUT), *arguments]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}")
    return done.stdout


def changed(diff: str) -> tuple[str, str]:
    """What a mutant replaces, and by what.

    >>> changed("--- a\\n+++ b\\n@@ -1 +1 @@\\n def f() -> int:\\n-    return 1\\n+    return 2")
    ('return 1', 'return 2')
    """
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    removed, added = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return removed, added


def main(arguments: Sequence[str]) -> int:
    names = chosen(arguments, date.today())  # noqa: DTZ011 - any day will do
    print("mutants of", ", ".join(names))
    modules = ["proxy." + name.removesuffix(".py").replace("/", ".") for name in names]
    shutil.rmtree(_ROOT / "mutants", ignore_errors=True)
    _mutmut("run", *(f"{module}.*" for module in modules))
    of_files = {
        mutant: outcome
        for mutant, outcome in _OUTCOME.findall(_mutmut("results", "--all", "true"))
        if mutant.rpartition(".")[0] in modules
    }
    killed = sum(outcome in ("killed", "timeout") for outcome in of_files.values())
    missing = equivalent = 0
    for mutant, outcome in of_files.items():
        if outcome in ("killed", "timeout"):
            continue
        diff = _mutmut("show", mutant)
        if (mutant.partition("__mutmut_")[0], *changed(diff)) in EQUIVALENT:
            equivalent += 1
            continue
        missing += 1
        print(f"{outcome.upper()}  {mutant}\n{diff}")
    print(
        f"{len(of_files)} mutants: {killed} killed, {equivalent} equivalent, {missing} not killed"
    )
    return 1 if missing or not of_files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
