"""An analyst cannot change what they log in with on the shadow alone."""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_ALTER = "ALTER ROLE current_user PASSWORD 'mine alone'"


@pytest.mark.every(18)
@pytest.mark.parametrize(
    "text",
    [
        _ALTER,
        f"SELECT 1; {_ALTER}",
        f"BEGIN; {_ALTER}; COMMIT",
        "/**/ ALTER /**/ USER current_user RESET ALL",
        f"DO $$ BEGIN {_ALTER}; END $$",
        "DO $$ BEGIN EXECUTE 'alter role current_user reset all'; END $$",
        f"SELECT 1; CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE sql AS $$ {_ALTER} $$",
    ],
)
@pytest.mark.parametrize("prepare", [True, False])
def test_a_role_is_not_altered(text: str, prepare: bool, live: LiveProxy) -> None:
    if prepare and text.startswith(("SELECT", "BEGIN")):
        pytest.skip("several statements cannot be prepared")
    with live.connect() as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            connection.execute(text, prepare=prepare)
        assert "dpproxy user passwd" in (caught.value.diag.message_hint or "")
    live.connect().close()  # the password is what it was
