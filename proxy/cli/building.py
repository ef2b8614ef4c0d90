"""From a checked policy to a database that can be served."""

from __future__ import annotations

import structlog

from proxy.cli.assembly import Database, assemble
from proxy.cli.loading import CheckedPolicy
from proxy.cli.shadow_server import Server
from proxy.cli.stopped import Stopped
from proxy.databases.shadow import Shadow
from proxy.databases.shadow_tables import ShadowError

_log = structlog.get_logger("dpproxy.building")


def build(checked: CheckedPolicy, shadow_server: Server) -> Database:
    """The shadow made what the policy says, and the engine in front of it."""
    policy, catalog = checked.policy, checked.catalog
    shadow = Shadow(shadow_server.dsn(), policy.database, shadow_server.address)
    try:
        is_new = shadow.build(policy, catalog)
    except ShadowError as error:
        raise Stopped(f"database {policy.database}: {error}") from None
    if not is_new:
        try:
            shadow.refresh_public_tables(policy, catalog)
        except ShadowError as error:
            _log.warning("stale_public_tables", database=policy.database, reason=str(error))
    return assemble(policy, catalog, shadow)
