"""From a bare database to the first answer in under five minutes of typing (docs/tutorials/owner.md)."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "owner.md"
_BLOCK = re.compile(r"^```(?P<kind>sh|diff)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S)
_A_MINUTE = 200  # characters: 40 words of five, of somebody who does not type for a living


def test_the_first_answer_is_typed_in_five_minutes() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    typed = [len("grep DECIDE club.yaml\n")]  # in the text of step 3
    for block in _BLOCK.finditer(page):
        lines = block["text"].splitlines(keepends=True)
        if block["kind"] == "diff":
            lines = [line[1:] for line in lines if line.startswith("+")]
        typed += map(len, lines)
    assert len(typed) > 10
    assert sum(typed) <= 5 * _A_MINUTE
    assert f"{sum(typed)}\ncharacters" in page or f"{sum(typed)} characters" in page
