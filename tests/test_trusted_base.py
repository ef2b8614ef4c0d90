"""SECURITY.md lists all that a privacy reviewer has to read: what guards the data, and what that imports.

`pytest tests/test_trusted_base.py --bless` writes its table. Lines may be off by `_WITHIN`: a commit elsewhere
changes some lines of a file, and two branches would meet in this table each time. Files have to be exact.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from tests.trusted_base import (
    ALLOWED,
    BEGIN,
    CAPABILITIES,
    END,
    MODULES,
    PARTS,
    ROOT,
    Base,
    imported_names,
    imports,
    members,
    names_imported_in,
    nodes_of,
    sql_files,
    table_of,
    wiring,
)

_SECURITY = ROOT / "SECURITY.md"
_WITHIN = 0.05
_LINES = re.compile(r"\| ([\d,]+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def base() -> Base:
    return Base(parts=PARTS, allowed=ALLOWED, imports=imports())


def _written() -> str:
    text = _SECURITY.read_text(encoding="utf-8")
    return text.split(BEGIN)[1].split(END)[0].strip()


def _numbers(table: str) -> list[int]:
    return [int(one.replace(",", "")) for one in _LINES.findall(table)]


def test_imports_are_found_wherever_they_stand() -> None:
    text = """
import proxy.b
if TYPE_CHECKING:
    from proxy import d
def f():
    from proxy.f import g
"""
    wanted = [("proxy.b", ""), ("proxy", "d"), ("proxy.f", "g")]
    assert list(names_imported_in(ast.walk(ast.parse(text)))) == wanted


def test_all_that_is_imported_is_listed_or_excused(base: Base) -> None:
    assert base.unlisted() == []


def test_all_that_is_listed_is_imported(base: Base) -> None:
    assert base.unreached() == []


def test_no_excuse_is_left_over(base: Base) -> None:
    assert base.unused() == []


def test_names_are_those_of_modules() -> None:
    named = {*ALLOWED, *(name for part in PARTS.values() for name in part.names)}
    assert named <= MODULES.keys()


def test_what_is_not_listed_reads_no_exact_row_and_makes_no_charge(base: Base) -> None:
    assert base.unlisted_with_rows() == []


@pytest.mark.parametrize("name", CAPABILITIES)
def test_who_makes_a_capability_is_known(name: tuple[str, str]) -> None:
    module, _ = name
    whole = tuple(module.rsplit(".", 1))
    found = {
        one for one in MODULES if not {name, whole, (module, "")}.isdisjoint(imported_names(one))
    }
    assert found == CAPABILITIES[name]


def test_who_charges_is_known() -> None:
    found = {
        one
        for one in MODULES
        for node in nodes_of(one)
        if isinstance(node, ast.Attribute) and node.attr == "reserve"
    }
    assert {one for one in found if not one.startswith("proxy.audit.")} == {
        "proxy.engine.charged_queries",
        "proxy.engine.bound_proposing",
        "proxy.ledger.engine_ledger",
    }


@pytest.mark.parametrize(
    ("name", "where"),
    [
        # Of an analyst: whoever has checked the credentials, for the session or the caller.
        ("Payer", {"proxy.servers.engine_adapter", "proxy.servers.http.http_logins"}),
        # Of the data owner: explanations, proposals of bounds, publications.
        (
            "run_of_owner",
            {
                "proxy.cli.explain_command",
                "proxy.engine.bound_proposing",
                "proxy.engine.publishing",
            },
        ),
    ],
)
def test_who_says_who_pays_is_known(name: str, where: set[str]) -> None:
    """Others hand it on, and make none."""
    found = {
        one
        for one in MODULES
        for node in nodes_of(one)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }
    assert found - {"proxy.drawing.statement_run"} == where


def test_the_planner_is_not_believed(base: Base) -> None:
    """What it makes is judged: no SQL is printed of what was not (tests/kernel/test_checked_plan.py)."""
    assert all(base.part_of(one) is None for one in members("proxy.planner"))


def test_commands_that_hand_something_in_are_found() -> None:
    assert "proxy.cli.assembly" in wiring()
    assert wiring() != members("proxy.cli")


def test_each_sql_file_belongs_to_one_module() -> None:
    read = [file for module in MODULES for file in sql_files(module)]
    assert len(read) == len(set(read))
    of_shadow = set((ROOT / "proxy" / "shadow").glob("*.sql"))
    assert set((ROOT / "proxy").rglob("*.sql")) - of_shadow <= set(read)


def test_the_table_is_that_of_the_files(base: Base, bless: bool) -> None:
    made = table_of(base)
    if bless:
        before, _, rest = _SECURITY.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        _SECURITY.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")
    assert _LINES.sub("", _written()) == _LINES.sub("", made), "bless it"
    stated, counted = _numbers(_written()), _numbers(made)
    assert len(stated) == len(counted) == len(PARTS) + 1
    assert stated[-1] == sum(stated[:-1])
    for one, other in zip(stated, counted, strict=True):
        assert abs(one - other) <= _WITHIN * other, f"{one} stated, {other} counted: bless it"


@pytest.mark.parametrize("part", PARTS)
def test_a_row_less_is_seen(base: Base, part: str) -> None:
    others = {name: one for name, one in PARTS.items() if name != part}
    without = replace(base, parts=others)
    assert without.unlisted() or without.unlisted_with_rows()


def test_an_import_more_is_seen(base: Base) -> None:
    listed, unlisted = "proxy.kernel.price", "proxy.cli.main"
    assert base.part_of(unlisted) is None and not base.is_excused(unlisted)
    more = {**base.imports, listed: base.imports[listed] | {unlisted}}
    assert unlisted in replace(base, imports=more).unlisted()


def test_a_listed_file_that_nothing_imports_is_seen(base: Base) -> None:
    idle = replace(PARTS["wiring"], names=(*PARTS["wiring"].names, "proxy.cli.main"))
    assert replace(base, parts={**PARTS, "wiring": idle}).unreached() == ["proxy.cli.main"]


def test_an_excuse_that_is_not_needed_is_seen(base: Base) -> None:
    assert replace(base, allowed={**ALLOWED, "proxy.cli.main": "x"}).unused() == ["proxy.cli.main"]


def test_each_module_of_the_kernel_has_its_place_in_the_order_of_reading() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    (order,) = [
        one for one in text.split("\n\n") if one.startswith("**Read the kernel in this order.**")
    ]
    modules = {file.stem for file in (ROOT / "proxy" / "kernel").glob("*.py")} - {"__init__"}
    assert {one for one in modules if f"`{one}`" not in order} == set()
