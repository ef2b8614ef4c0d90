"""The floors of branch coverage are compared with what was measured."""

from __future__ import annotations

from tests.coverage_floors import FLOORS, Branches, by_package, too_low


def _report(**taken: int) -> dict[str, object]:
    """So many of a hundred branches in each package, half of them in each of two files."""
    files = {}
    for package, count in taken.items():
        for name, share in (("one.py", count // 2), ("two.py", count - count // 2)):
            summary = {"covered_branches": share, "num_branches": 50}
            files[f"proxy/{package}/{name}"] = {"summary": summary}
    files["proxy/cli/main.py"] = {"summary": {"covered_branches": 0, "num_branches": 9}}
    return {"files": files}


def test_what_is_below_its_floor_is_named() -> None:
    found = by_package(_report(**dict.fromkeys(FLOORS, 100)))
    assert list(too_low(found)) == []
    assert found["planner"] == Branches(100, 100)
    low = by_package(_report(**dict.fromkeys(FLOORS, 100) | {"planner": 51}))
    assert [failure.partition(":")[0] for failure in too_low(low)] == ["planner"]


def test_a_package_that_was_not_measured_is_too_low() -> None:
    assert [failure.partition(":")[0] for failure in too_low(by_package({"files": {}}))] == [
        *FLOORS
    ]
