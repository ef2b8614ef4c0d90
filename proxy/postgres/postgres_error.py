"""What keeps an embedded PostgreSQL from running: for the operator, in a line."""

from __future__ import annotations


class EmbeddedPostgresError(RuntimeError):
    """The embedded PostgreSQL cannot be made, started or reached."""


class InUse(EmbeddedPostgresError):
    """Another process of ours runs this server: `attach` to it instead."""
