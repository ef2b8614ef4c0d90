"""A shadow's server of its own: small, since all of it is copied at every start."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.shadow_database import Shadow
from tests.servers_fixture import Servers
from tests.unjudged_rows import unjudged

_OF_A_DATABASE = (
    "SELECT datname, datacl::text, datallowconn, datistemplate, datconnlimit, pg_encoding_to_char(encoding),"
    " datcollate, datctype, shobj_description(oid, 'pg_database') FROM pg_database ORDER BY datname"
)


@pytest.mark.long
def test_the_last_database_is_the_template_and_looks_like_the_others(
    pair: Servers, tmp_path: Path
) -> None:
    server = EmbeddedPostgres(tmp_path, "shadow", disposable=True, tcp=False, for_analysts=True)
    server.start()
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            before = {row[0] for row in connection.execute(_OF_A_DATABASE)}
            assert before == {"postgres", "template0"}
            for name in ("census", "shop"):
                shadow = Shadow(server.dsn(), name, server.address)
                shadow.build(
                    pair.policies[name],
                    pair.catalogs[name],
                    unjudged(pair.policies[name]),
                    is_last=name == "shop",
                )
                assert shadow.verify() == ()
            census, postgres, shop = connection.execute(_OF_A_DATABASE).fetchall()
            assert (postgres[0], postgres[1]) == ("postgres", "{postgres=CTc/postgres}")
            assert census[1:] == shop[1:]
            assert (census[0], shop[0], shop[2:4]) == ("census", "shop", (True, False))
        shop_policy, again = pair.policies["shop"], unjudged(pair.policies["shop"])
        shadow.build(shop_policy, pair.catalogs["shop"], again, is_last=True)  # as it is
    finally:
        server.stop()
