"""The certificate of the listener that takes TLS only."""

from __future__ import annotations

from tests.servers.conftest import certificate

__all__ = ["certificate"]
