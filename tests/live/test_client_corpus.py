"""Everything that real clients were seen to send (../shared/clients), on the real engine: what is not about
protected rows comes back as from PostgreSQL itself, what is about them is answered or refused readably."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.conversing import Outcome, extended, simple
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

_CLIENTS = Path(__file__).parents[3] / "shared" / "clients"
_FILES = sorted(path.name for path in _CLIENTS.glob("*.sql"))
# Rows that differ between two direct connections, too.
_MOVING = re.compile(
    r"pg_backend_pid|pg_stat_|random\(|now\(|clock_timestamp|current_timestamp|txid|pg_current|age\(|"
    r"pg_postmaster|localtimestamp|pg_temp|pg_my_temp|timeofday|inet_client|inet_server|pg_locks|EXPLAIN|"
    r"pg_prepared_statements|pg_(total_)?relation_size|pg_table_size|pg_database_size|gen_random_uuid|pg_type",
    re.IGNORECASE,
)
_LOADS_PLPGSQL = "SELECT dp.low(1)"  # as a refusal does: it adds rows to pg_settings
_GUARD = b"permission denied for table "


def statements(name: str) -> list[str]:
    pieces = (piece.strip() for piece in (_CLIENTS / name).read_text().split("-- ;;\n"))
    return [piece for piece in pieces if piece and "pg_sleep" not in piece]


def same(one: Outcome, other: Outcome, text: str) -> bool:
    rows = bool(_MOVING.search(text)) or one.rows == other.rows
    return rows and (one.columns, one.error, one.tags, one.status) == (
        other.columns, other.error, other.tags, other.status,
    )  # fmt: skip


def is_about_protected_rows(direct: Outcome) -> bool:
    """Straight on the shadow the guard speaks up; EXPLAIN and COPY it does not see."""
    return direct.error is not None and _GUARD in direct.error[1]


@pytest.mark.long
@pytest.mark.skipif(not _FILES, reason="the corpus ../shared/clients is not here")
def test_corpus(live: LiveProxy) -> None:
    compared = asked = 0
    for name in _FILES:
        with RawClient(live.dsn()) as proxied, RawClient(live.direct_dsn()) as direct:
            for client in (proxied, direct):
                simple(client, _LOADS_PLPGSQL)
            for text in statements(name):
                for ask in (simple, extended):
                    if re.match(r"\s*copy\b.*\bfrom\s+stdin", text, re.IGNORECASE):
                        continue
                    got, wanted = ask(proxied, text), ask(direct, text)
                    where = f"{name}, {ask.__name__}: {text}\n{got}\n{wanted}"
                    if is_about_protected_rows(wanted):
                        asked += 1
                        assert got.error is None or got.error[0] in (b"42501", b"0A000"), where
                        assert got.status == wanted.status or got.error is None, where
                    elif not re.search(r"\b(orders|customers)\b", text):
                        assert same(got, wanted, text), where
                        compared += 1
                    else:  # EXPLAIN, probes, a failed CREATE and the like
                        assert got.error == wanted.error or (got.error or (b"",))[0] in (
                            b"", b"42501", b"0A000",
                        ), where  # fmt: skip
                    for client in (proxied, direct):
                        simple(client, "ROLLBACK")
                    proxied_status = simple(proxied, "SELECT 1").status
                    assert proxied_status == b"I", where
    assert compared > 600 and asked > 15
