"""Become an unprivileged account, tie this process's life to its parent's, then become PostgreSQL.

Run as a script, by path, in a fresh interpreter: code between fork and exec (`preexec_fn`) is not
safe once a program has threads. So this file imports nothing of ours.

    python -I -S postgres_launcher.py ACCOUNT UID PARENT SIGNAL LIMITS PROGRAM [ARGUMENT...]

ACCOUNT   same            stay who we are
          user-namespace  root only: a new user namespace in which root's files belong to UID, so
                          that PostgreSQL, which refuses to run as root, sees an ordinary user:
                          no chown, no useradd, no rights on parent directories
          other-user      root only: setuid to UID, where user namespaces are forbidden
PARENT    process id of the parent; when it dies, SIGNAL comes (prctl(2), PR_SET_PDEATHSIG; Linux).
LIMITS    a ProcessLimits in JSON, for PROGRAM and each of its children:
          memory     setrlimit(2), RLIMIT_DATA: since Linux 4.7 all private writable memory. A PostgreSQL that
                     reaches it fails one statement (53200), where the kernel would kill a process and with it
                     every session. Not RLIMIT_AS: that counts the stack, too, and a stack that cannot grow is
                     SIGSEGV, which ends every session.
          nice       nice(2): others go first where the processors do not do for all.
          oom_score  /proc/self/oom_score_adj (Linux): where memory runs out, the kernel ends these first. To
                     raise it needs no right.
          walls      landlock(7), last of all: what is not named can be neither read, written nor executed.
                     Then seccomp(2), if `filters`: calls that reach other processes are refused (EPERM).
                     A wall that cannot be put up ends the start.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import socket
import stat
import struct
import sys
from pathlib import Path
from typing import Any, NamedTuple

SAME = "same"
USER_NAMESPACE = "user-namespace"
OTHER_USER = "other-user"

_CLONE_NEWUSER = 0x10000000  # <linux/sched.h>
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38  # <linux/prctl.h>
# <linux/landlock.h>; system calls have these numbers on every architecture (<asm-generic/unistd.h>).
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_RIGHTS_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # by version; how many there are
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_OTHERS_SOCKETS, _OTHERS_SIGNALS = 1 << 0, 1 << 1
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2  # <linux/prctl.h>, <linux/seccomp.h>
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
# <linux/bpf_common.h>: load a word; jump if equal, if greater or equal, if a bit is set; and; return
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # in seccomp_data; lower halves of arguments
_X32 = 0x40000000  # from here on, calls of x86_64 mean x32
_STREAM, _TYPE_OF_SOCKET = 1, 0xF  # SOCK_STREAM; what SOCK_CLOEXEC and the like leave


class Calls(NamedTuple):
    """Numbers of system calls on one architecture (<asm/unistd.h>).

    architecture: AUDIT_ARCH_* of <linux/audit.h>; refused: calls that are refused whatever their arguments.
    """

    architecture: int
    clone: int
    socket: int
    socketpair: int
    refused: tuple[int, ...]


# io_uring has these numbers everywhere: a ring runs calls that no filter sees. So has pidfd_getfd.
_RING_AND_FILES = (425, 426, 427, 438)
_CLONE3 = 435
_CALLS = {  # refused: connect, ptrace, process_vm_readv and _writev, unshare, setns
    "x86_64": Calls(0xC000003E, 56, 41, 53, (42, 101, 310, 311, 272, 308, *_RING_AND_FILES)),
    "aarch64": Calls(0xC00000B7, 220, 198, 199, (203, 117, 270, 271, 97, 268, *_RING_AND_FILES)),
}


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def enter_user_namespace(libc: ctypes.CDLL, uid: int) -> None:
    """user_namespaces(7): one line each, and setgroups denied before gid_map may be written."""
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    _check(libc.unshare(_CLONE_NEWUSER), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{uid} {outside_gid} 1")
    Path("/proc/self/uid_map").write_text(f"{uid} {outside_uid} 1")


def become(uid: int) -> None:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def die_with(parent: int, signal: int, libc: ctypes.CDLL) -> None:
    """After any change of uid: that clears the setting (prctl(2))."""
    if sys.platform != "linux":
        return
    _check(libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")
    if os.getppid() != parent:  # it died before the setting was made
        sys.exit(1)


def limit_memory(most: int) -> None:
    """Never above what is set already: raising it would be refused."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def offer_to_the_oom_killer(score: int) -> None:
    """Never below what is set already: lowering it would be refused."""
    file = Path("/proc/self/oom_score_adj")
    if file.exists():
        file.write_text(str(max(score, int(file.read_text()))))


def landlock_version() -> int:
    """Of the running kernel; 0: it has none, or does not let us use it."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def put_up_walls(libc: ctypes.CDLL, walls: dict[str, Any]) -> None:
    version = walls["version"]
    files = (1 << _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))]) - 1
    ports = 0 if version < 4 else _CONNECT_TCP | (0 if walls["listens"] else _BIND_TCP)
    scopes = 0 if version < 6 else _OTHERS_SOCKETS | _OTHERS_SIGNALS
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("=QQQ", files, ports, scopes)[:size]
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    _check(min(ruleset, 0), "landlock_create_ruleset")
    for paths, rights in (
        (walls["readable"], _READ_FILE | _READ_DIRECTORY),
        (walls["runnable"], _READ_FILE | _READ_DIRECTORY | _EXECUTE),
        (walls["writable"], files & ~_EXECUTE),
    ):
        for path in paths:
            allow(libc, ruleset, path, rights & files)
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _check(libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        rights &= _RIGHTS_OF_A_FILE
    rule = struct.pack("=Qi", rights, opened)
    done = libc.syscall(_LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    _check(done, f"landlock_add_rule {path}")
    os.close(opened)


def can_filter() -> bool:
    """Whether the kernel has seccomp filters, and this file knows its architecture's calls."""
    if sys.platform != "linux" or os.uname().machine not in _CALLS:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0)  # EINVAL where there are none
    return ctypes.get_errno() == errno.EFAULT and sys.maxsize > 1 << 32


def filter_program(calls: Calls, *, listens: bool) -> bytes:
    """What a server that only accepts needs: no connection, no datagram, no look into a process, no namespace.

    A list of sock_filter (<linux/filter.h>): code, how many to skip if true and if false, constant.
    """
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    program = [
        *((_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, calls.architecture), refuse),
        *((_LOAD, 0, 0, _NUMBER), (_IF_AT_LEAST, 0, 1, _X32), refuse),
    ]
    for number in calls.refused:
        program += [(_IF_EQUAL, 0, 1, number), refuse]
    # Flags of clone3 are in memory, where no filter looks; the C library takes clone instead.
    program += [(_IF_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)]
    allow_it = (_RETURN, 0, 0, _ALLOW)
    program += [
        *((_IF_EQUAL, 0, 4, calls.clone), (_LOAD, 0, 0, _FIRST)),
        *((_IF_BIT, 0, 1, _CLONE_NEWUSER), refuse, allow_it),
        *((_IF_EQUAL, 2, 0, calls.socket), (_IF_EQUAL, 1, 0, calls.socketpair), allow_it),
    ]
    if not listens:
        program += [(_LOAD, 0, 0, _FIRST), (_IF_EQUAL, 1, 0, socket.AF_UNIX), refuse]
    program += [
        *((_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _TYPE_OF_SOCKET)),
        *((_IF_EQUAL, 1, 0, _STREAM), refuse, allow_it),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def filter_calls(libc: ctypes.CDLL, *, listens: bool) -> None:
    """After PR_SET_NO_NEW_PRIVS, without which the kernel takes no filter."""
    program = filter_program(_CALLS[os.uname().machine], listens=listens)
    at = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(at))
    _check(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, whole, 0, 0), "seccomp")


def main(arguments: list[str]) -> None:
    account, uid, parent, signal, limits_text, *command = arguments
    limits = json.loads(limits_text)
    libc = ctypes.CDLL(None, use_errno=True)
    if limits["oom_score"]:  # before any change of uid: /proc/self is root's afterwards
        offer_to_the_oom_killer(limits["oom_score"])
    if account == USER_NAMESPACE:
        enter_user_namespace(libc, int(uid))
    elif account == OTHER_USER:
        become(int(uid))
    elif account != SAME:
        raise ValueError(f"unknown account {account!r}")
    die_with(int(parent), int(signal), libc)
    if limits["memory"]:
        limit_memory(limits["memory"])
    if limits["nice"]:
        os.nice(limits["nice"])
    if limits["walls"]:
        put_up_walls(libc, limits["walls"])
        if limits["walls"]["filters"]:
            filter_calls(libc, listens=limits["walls"]["listens"])
    os.execv(command[0], command)  # noqa: S606 - no shell is meant


if __name__ == "__main__":
    main(sys.argv[1:])
