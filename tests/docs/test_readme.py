"""The README is one page in the order in which somebody needs it."""

from __future__ import annotations

import re
from pathlib import Path

from proxy.policy_file.policy_yaml import read_policy
from tests.servers.http.test_instead import INSTEAD

_ROOT = Path(__file__).parents[2]
_TEXT = (_ROOT / "README.md").read_text(encoding="utf-8")
_SECTIONS = [
    "Try it", "Why dpproxy", "How it answers", "What it promises, and what not", "Documentation",
]  # fmt: skip


def test_it_is_short_and_in_order() -> None:
    assert len(_TEXT.splitlines()) < 120
    assert re.findall(r"^## (.*)$", _TEXT, re.MULTILINE) == _SECTIONS


def test_it_has_a_picture_that_is_there() -> None:
    (picture,) = re.findall(r"^!\[[^]]+\]\(([^)]+)\)$", _TEXT, re.MULTILINE)
    assert (_ROOT / picture).is_file()


def test_the_whole_policy_of_the_guide_is_read() -> None:
    guide = (_ROOT / "docs" / "how-to" / "choose.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    policy = read_policy(text, "shop.yaml", {"SHOP_DSN": "host=db"})
    assert policy.database == "shop"
    assert {str(name) for name in policy.tables} == {"shop.orders", "shop.products"}


def test_its_refusal_is_what_an_analyst_gets() -> None:
    refused = (_ROOT / "tests" / "golden" / "refused" / "rows.sql").read_text(encoding="utf-8")
    (hint,) = re.findall(r"^ *HINT:  (.*)$", _TEXT, re.MULTILINE)
    (message,) = re.findall(r"^ *ERROR:  (.*)$", _TEXT, re.MULTILINE)
    assert f"-- {message}\n".replace("shop.orders", "w.people") in refused
    hint, _, instead = hint.partition(" Try: ")
    assert instead == INSTEAD["SELECT * FROM shop.orders"]
    assert f"-- {hint}\n".replace("shop.orders", "w.people") in refused


def test_the_map_of_the_code_is_short() -> None:
    assert len((_ROOT / "proxy" / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_the_map_of_the_code_names_every_package() -> None:
    text = (_ROOT / "proxy" / "README.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (_ROOT / "proxy").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == packages


def test_the_map_of_the_tests_names_every_folder() -> None:
    text = (_ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## Folders") : text.index("## If you change")]
    folders = {path.name for path in (_ROOT / "tests").iterdir() if path.is_dir()}
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == folders - {"__pycache__"}
