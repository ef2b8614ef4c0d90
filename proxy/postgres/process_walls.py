"""What a shadow's server may reach: its own files, and what PostgreSQL itself consists of.

Analysts send statements to the shadow. Whoever finds a hole in its PostgreSQL runs code there, as the user that
the ledger and dpproxy run as. Landlock (landlock(7), Linux 5.13) takes from such code what no shadow needs:

    files           of the ledger, of dpproxy, of everybody else, for reading and writing
    execve(2)       of all files but PostgreSQL's
    processes       looking into others (/proc/PID/environ, ptrace); from Linux 6.12 on signals to them
    TCP             from Linux 6.7 on: connections, and ports where the server listens on its socket only

Landlock knows no Unix sockets that have a path. A server that trusts the user of the system (`peer`) would take
such code for dpproxy. So a seccomp filter refuses what a server that only accepts does not need, on x86_64 and
aarch64:

    connect(2)      to whatever socket
    sockets         other than Unix streams: no UDP, no datagram to a Unix socket
    processes       ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
    ways around     io_uring, user namespaces (unshare, clone, setns), 32-bit and x32 calls

Neither keeps such code from being any code: the loader, or mmap(2), takes a program from a readable file,
such as one below /usr/lib, or that it wrote. That program is within the same walls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proxy.postgres.postgres_binaries import Binaries
from proxy.postgres.postgres_launcher import can_filter, landlock_version

# What the launcher of a server limits its processes to.


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What a process reaches of the machine (process_walls.py, which makes them).

    version: of Landlock; readable, writable: folders and files; runnable: programs, and folders of the loader;
    listens: whether it may open ports; filters: whether seccomp refuses what Landlock does not see, too.
    """

    version: int
    readable: tuple[str, ...]
    runnable: tuple[str, ...]
    writable: tuple[str, ...]
    listens: bool
    filters: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Limits of a server and of each of its child processes; 0: none.

    memory: bytes of private writable memory (RLIMIT_DATA); nice: added to the niceness; oom_score: how early
    the kernel ends the process when memory runs out, up to 1000 (oom_score_adj, proc(5)); walls: None: the
    process reaches what its user reaches.
    """

    memory: int = 0
    nice: int = 0
    oom_score: int = 0
    walls: Walls | None = None


UNLIMITED = ProcessLimits()


# Where the loader finds libraries, and what the C library and OpenSSL read.
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store")
_LOADERS = ("ld-*.so*", "*/ld-*.so*")  # below them; the kernel runs one for each program
_READ = (
    *("/usr/share/zoneinfo", "/usr/share/postgresql", "/usr/share/locale", "/usr/share/icu"),
    *(
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/passwd",
        "/etc/group",
        "/etc/nsswitch.conf",
        "/etc/ssl/openssl.cnf",
    ),
    *("/dev/random", "/dev/urandom", "/dev/zero"),
)
_WRITTEN = ("/dev/null",)


def server_walls(binaries: Binaries, own: tuple[Path, ...], *, listens: bool) -> Walls | None:
    """Walls around a server.

    Args:
        binaries: The programs; what is installed beside them is readable, too.
        own: Folders that the server may change.
        listens: Whether it listens on TCP.

    Returns:
        None if the kernel has no Landlock, or a folder that must stay closed is below one that is open.
    """
    version = landlock_version()
    if version < 1:
        return None
    opened = tuple(_existing((*_LIBRARIES, *_READ, *_installed(binaries))))
    if any(folder.is_relative_to(path) for folder in own for path in opened):
        return None
    programs = {binaries.postgres, binaries.postgres.resolve()}
    return Walls(
        version=version,
        readable=tuple(map(str, opened)),
        runnable=tuple(sorted(map(str, {*programs, *_loaders()}))),
        writable=tuple(map(str, (*own, *_existing(_WRITTEN)))),
        listens=listens,
        filters=can_filter(),
    )


def _loaders() -> Iterator[Path]:
    for folder in _existing(_LIBRARIES):
        for pattern in _LOADERS:
            yield from (found.resolve() for found in folder.glob(pattern))


def _installed(binaries: Binaries) -> Iterator[str]:
    """PREFIX of PREFIX/bin, and a wheel's libraries beside its package. Links are followed: tests and
    distributions have folders of them."""
    for program in (binaries.postgres, binaries.postgres.resolve()):
        yield str(program.parent)
    prefix = binaries.postgres.resolve().parents[1]
    if prefix == Path("/usr"):  # all of the system: the folders above are enough
        return
    yield str(prefix)
    package = prefix.parent
    if package.name:
        yield str(package.with_name(f"{package.name}.libs"))


def _existing(paths: tuple[str, ...]) -> Iterator[Path]:
    for path in paths:
        if os.path.exists(path):  # noqa: PTH110 - a folder that may not be entered is not there
            yield Path(path).resolve()
