"""The high-water mark of the ledger after an orderly stop."""

from __future__ import annotations

import json
from pathlib import Path

from proxy.ledger.ledger_mark import MARK_FILE
from tests.cli.operator_at_work import Operator


def test_it_is_that_of_the_last_receipt(tmp_path: Path) -> None:
    """Else a ledger that has lost what was charged just before the end would be accepted."""
    operator = Operator(tmp_path)
    operator.adopt("ann")
    with operator.serving() as listening:
        last = max(listening.ask_over_http("ann") for _ in range(3))
        listening.running.stop()
    assert json.loads((operator.state / MARK_FILE).read_text())["receipt"] == last
