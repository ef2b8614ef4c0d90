"""How a command ends that cannot go on."""

from __future__ import annotations


class CliError(Exception):
    """Its text is for whoever typed the command; it holds no password."""
