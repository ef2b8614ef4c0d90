"""Where DPPROXY_PG_BIN says `none` (`make quick`), whatever comes to need a PostgreSQL is skipped there."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def use() -> None:
    """For this process."""
    if os.environ.get("DPPROXY_PG_BIN") != "none":
        return
    from proxy.postgres import embedded

    def skip(*_: object) -> NoReturn:
        raise pytest.skip.Exception("needs a PostgreSQL", allow_module_level=True)

    pytest.MonkeyPatch().setattr(embedded, "find_binaries", skip)
