"""The environment of each program that is started: its own copy, and little in it.

A child that inherits the environment reads the C library's array while other threads of this
process may change it: typer sets and removes a variable while it imports pydantic, and execve(2)
then fails with EFAULT ("Bad address"). Python copies an environment that it is given.
"""

from __future__ import annotations

import os


def environment() -> dict[str, str]:
    """Nothing of the caller's PG* or LC_* settings reaches a server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
