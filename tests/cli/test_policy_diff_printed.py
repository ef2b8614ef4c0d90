"""`dpproxy policy diff` prints each kind of change, under its heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import dpproxy
from tests.samples import SHOP_POLICY

_PUBLISH = """
publish:
  - name: by_status
    sql: SELECT status, count(*) AS n FROM shop.orders GROUP BY status
    every: 24h
    epsilon: 2
"""
_ACCEPT = """
accept:
  PUBLIC_IS_NOT_NEEDED: {shop.products: in every shop window}
"""
_CHANGES = {
    "Published tables": ("", _PUBLISH),
    "Budgets": ("  total:    {epsilon: 20,", "  total:    {epsilon: 10,"),
    "Cached answers": ("reuse: 24h", "reuse: 12h"),
    "How exact answers are, and what they cost": ("  epsilon: 0.5", "  epsilon: 0.25"),
    "What analysts can ask": ("      quantity:   {bounds: [1, 20]}", ""),
    "What is protected, and what is accepted": ("", _ACCEPT),
}


@pytest.mark.parametrize("head", _CHANGES)
def test_a_change_stands_under_its_head(head: str, tmp_path: Path) -> None:
    text = SHOP_POLICY.read_text(encoding="utf-8")
    old, new = _CHANGES[head]
    changed = text.replace(old, new, 1) if old else text + new
    assert changed != text
    (tmp_path / "new.yaml").write_text(changed, encoding="utf-8")
    done = dpproxy("policy", "diff", SHOP_POLICY, tmp_path / "new.yaml")
    assert done.code == 0, done.err
    assert f"{head}:\n" in done.out and done.out.startswith("Protection of people: ")
