"""What a row of an index costs to the planner: less before PostgreSQL 17, for the same plans (ADR 0120)."""

from __future__ import annotations

import asyncio

from proxy.protected.protected_connections import ProtectedConnections
from tests.servers_fixture import Servers

_COST = b"SELECT current_setting('server_version_num')::int || ' ' || current_setting('cpu_index_tuple_cost')"


async def _cost(dsn: str) -> str:
    connections = ProtectedConnections(dsn, 60_000)
    try:
        connection = await connections.begun(10.0)
        found = await connection.first_value(_COST)
        connections.drop(connection)
        return str(found)
    finally:
        await connections.close()


def test_a_row_of_an_index_costs_less_before_17(pair: Servers) -> None:
    version, cost = asyncio.run(_cost(pair.protected.dsn("shop"))).split()
    assert cost == ("0.0025" if int(version) < 170_000 else "0.005")
