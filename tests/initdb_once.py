"""Data directories of shadows and ledgers are made by initdb once in a run, and copied after that.

A run makes some two hundred, a second of processor time each. DPPROXY_PG_BIN then names a folder of links to
the programs in use, in which `initdb` is this file: it copies what the same call has made before, and hands out
that one's superuser password. Copies have one system identifier, so only servers are copied of which nothing
asks it: those named shadow, ledger and synthetic (of an audit). Passwords are quick on all. Whoever tests
initdb itself calls `real_programs`.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_VARIABLE = "DPPROXY_PG_BIN"
_REAL, _MADE = "REAL_INITDB", "made"
_COPIED = ("shadow", "ledger", "synthetic")


def use() -> None:
    """For this process and all that it starts. Workers of one run share what is made."""
    from proxy.postgres.postgres_binaries import BinariesNotFound, find_binaries

    if "DPPROXY_TESTS_INITDB" in os.environ:
        return
    try:
        binaries = find_binaries()
    except BinariesNotFound:
        return  # the tests that need one say so
    folder = Path(tempfile.mkdtemp(prefix="dpproxy-initdb-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / _MADE).mkdir()
    for path in (folder, folder / _MADE):
        path.chmod(0o777)  # PostgreSQL runs under another account where the tests run as root
    programs = folder / "bin"
    programs.mkdir()
    for program in binaries.folder.iterdir():
        (programs / program.name).symlink_to(program)
    own = programs / "initdb"
    own.unlink()
    own.write_text(f"#!{sys.executable} -IS\n{Path(__file__).read_text(encoding='utf-8')}")
    own.chmod(0o755)
    (programs / _REAL).symlink_to(binaries.initdb)
    os.environ["DPPROXY_TESTS_INITDB"] = os.environ.get(_VARIABLE, "")
    os.environ[_VARIABLE] = str(programs)


def real_programs() -> dict[str, str]:
    """The environment's DPPROXY_PG_BIN as it was; empty: none was named."""
    return {_VARIABLE: os.environ.get("DPPROXY_TESTS_INITDB", os.environ.get(_VARIABLE, ""))}


def _run(initdb: Path, arguments: list[str]) -> int:
    """A password is hashed once instead of 4096 times (scram_iterations, from 16): that is half of a login's
    processor time, and a run logs in ten thousand times."""
    printed = subprocess.run([initdb, "--version"], capture_output=True, text=True, check=True)
    major = re.search(r"\d+", printed.stdout)
    quick = ["-c", "scram_iterations=1"] if major and int(major[0]) >= 16 else []
    return subprocess.run([initdb, *arguments, *quick], check=False).returncode


def _initdb(arguments: list[str]) -> int:
    real = Path(__file__).with_name(_REAL)
    options = dict(itertools.pairwise(arguments))
    data, password = Path(options["-D"]), Path(options["--pwfile"])
    if data.parent.name not in _COPIED:
        return _run(real, arguments)
    others = [one for one in arguments if one not in (str(data), str(password))]
    name = hashlib.sha256("\0".join([str(os.getuid()), *others]).encode()).hexdigest()[:16]
    made = real.parents[1] / _MADE / name
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            part = made.with_suffix(".part")
            part.mkdir(mode=0o700)
            shutil.copyfile(password, part / "password")
            words = {str(data): str(part / "data"), str(password): str(part / "password")}
            code = _run(real, [words.get(one, one) for one in arguments])
            if code != 0:
                shutil.rmtree(part)
                return code
            part.rename(made)
    password.write_bytes((made / "password").read_bytes())
    return subprocess.run(["cp", "-Rp", f"{made / 'data'}/.", data], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(_initdb(sys.argv[1:]))
