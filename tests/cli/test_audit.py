"""The neighbour audit as a command: it accepts the sample policies and finds planted mutants."""

from __future__ import annotations

import asyncio
import functools
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proxy.audit.sensitivity_plot import sensitivity_plot
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, Table, TableName
from proxy.cli.audit import Audited, Size, audited
from proxy.cli.audit_report import audit_report
from proxy.cli.loading import CheckedPolicy, load_policy
from proxy.cli.main import command_line
from proxy.compiler import compiling, row_scan, sub_partitions, unit_scan
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.mechanisms import discrete_laplace
from proxy.policy.policy_model import (
    BlockLength,
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    JoinKey,
    Mechanism,
    MedianNoise,
    Noise,
    Policy,
    ProtectedTable,
    RowUnit,
    TimeBlocks,
    UnitPath,
)
from proxy.query.ir.expressions import ColumnRef
from tests.policy.postgres import demo_sources
from tests.samples import DEMO_POLICIES, SHOP_POLICY
from tests.servers_fixture import PRIVACY, budgets

ORDERS = "SELECT count(*) FROM shop.orders; SELECT status, sum(quantity) FROM shop.orders GROUP BY status"
SMALL = Size(rows=6)


_FIXED, _SAMPLED = "shop, fixed bounds", "census, sample and aggregate"


def _sample(name: str) -> CheckedPolicy:
    if name == _FIXED:
        return _with_fixed_bounds(_sample("shop"))
    if name == _SAMPLED:
        census = _sample("census")
        privacy = replace(census.policy.privacy, mechanism=Mechanism.SMOOTH_MEDIAN)
        return replace(census, policy=replace(census.policy, privacy=privacy))
    return load_policy(DEMO_POLICIES[name], {f"{name.upper()}_DSN": demo_sources()[name]})


def _with_fixed_bounds(checked: CheckedPolicy) -> CheckedPolicy:
    """40 orders of a customer, in 4 groups, 20 in each."""
    name = TableName("shop", "orders")
    orders = checked.policy.tables[name]
    assert isinstance(orders, ProtectedTable)
    fixed = replace(
        orders,
        chooses_rows=False,
        max_rows_per_unit=40,
        max_groups_per_unit=4,
        max_rows_per_group_per_unit=20,
    )
    policy = replace(checked.policy, tables={**checked.policy.tables, name: fixed})
    return replace(checked, policy=policy)


def _run(checked: CheckedPolicy, questions: str | None, size: Size = SMALL) -> Audited:
    return asyncio.run(audited(checked, questions, size))


def _with_months(checked: CheckedPolicy) -> CheckedPolicy:
    """Of which each month of a customer is protected by itself, and of customers nothing else."""
    name = TableName("shop", "orders")
    orders = checked.policy.tables[name]
    assert isinstance(orders, ProtectedTable) and isinstance(orders.unit, IdentifierUnit)
    blocks = TimeBlocks(per=BlockLength.MONTH, time="created_at")
    second = 86_400
    bounds = Bounds(Fraction(19_000 * second), Fraction(19_400 * second), BoundsKind.TIMESTAMP)
    timed = replace(
        orders,
        unit=replace(orders.unit, blocks=blocks),
        columns={**orders.columns, "created_at": ColumnPolicy("created_at", bounds)},
    )
    return replace(checked, policy=replace(checked.policy, tables={name: timed}))


@functools.cache
def _audit_of(name: str) -> Audited:
    return _run(_sample(name), None, Size(rows=6, distance=2))


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["census", "shop"])
def test_a_sample_policy_passes_and_the_audit_reaches_what_is_planned(name: str) -> None:
    found = _audit_of(name)
    assert found.audit.violations == 0 and not found.refused, "\n".join(audit_report(found))
    assert {finding.sql for finding in found.audit.findings} == {a.sql for a in found.audited_query}
    # Not vacuous: nearly every bound is met exactly.
    tight = [f for f in found.audit.findings if f.observed[1] == f.planned]
    assert len(tight) >= 0.9 * len(found.audit.findings)
    for finding in found.audit.findings:
        assert set(finding.observed) == {1, 2} and finding.observed[2] >= finding.observed[1]
        assert finding.replaced is not None


@pytest.mark.long
def test_neighbours_are_people_in_a_month_where_the_policy_says_so() -> None:
    """Each synthetic customer is in two months, and one of them goes."""
    questions = (
        "SELECT count(*), sum(quantity) FROM shop.orders; SELECT date_trunc('month', created_at), count(*),"
        " count(DISTINCT customer_id) FROM shop.orders GROUP BY 1; SELECT count(*) FROM shop.orders WHERE"
        " date_trunc('month', created_at) = '2022-01-01'"
    )
    checked = _with_months(_with_fixed_bounds(_sample("shop")))
    found = _run(checked, questions, Size(rows=12))
    assert found.audit.violations == 0 and not found.refused, "\n".join(audit_report(found))
    tight = [one for one in found.audit.findings if one.observed[1] == one.planned]
    assert len(tight) >= 0.5 * len(found.audit.findings), "\n".join(audit_report(found))
    everything = _run(checked, None)
    assert everything.audit.violations == 0 and not everything.refused


def test_the_plot_is_svg_with_a_line_per_release() -> None:
    findings = _audit_of("census").audit.findings
    tree = ElementTree.fromstring(sensitivity_plot(findings, "a < b"))
    lines = [node for node in tree.iter() if node.tag.endswith("polyline")]
    assert tree.tag == "{http://www.w3.org/2000/svg}svg" and len(lines) == len(findings) + 1


def _unbounded(patch: pytest.MonkeyPatch) -> None:
    def scan(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        return unit_scan.unit_scan(plan, releases, replace(unit, rows=10**6), binds)

    patch.setattr(compiling, "unit_scan", scan)


def _all_groups(patch: pytest.MonkeyPatch) -> None:
    def scan(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        return unit_scan.unit_scan(plan, releases, replace(unit, groups=None), binds)

    patch.setattr(compiling, "unit_scan", scan)


_UNITS_BY_PRODUCT = (
    "SELECT product_id, count(DISTINCT customer_id) FROM shop.orders GROUP BY product_id"
)


def _random_cells(patch: pytest.MonkeyPatch) -> None:
    real = sub_partitions.sub_partition_sql

    def random(
        columns: tuple[ColumnRef, ...], number: int, binds: Binds
    ) -> tuple[str, tuple[str, ...]]:
        return real((), number, binds)

    patch.setattr(row_scan, "sub_partition_sql", random)


@functools.cache
def _violations_of_the_real_code(sample: str, questions: str) -> int:
    return _run(_sample(sample), questions).audit.violations


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("sample", "mutant", "questions"),
    [
        (_FIXED, _unbounded, ORDERS),
        # Of units, since the rows of all groups together are bounded as well.
        (_FIXED, _all_groups, _UNITS_BY_PRODUCT),
        (_SAMPLED, _random_cells, "SELECT max(age) FROM census.adult"),
    ],
)
def test_a_mutant_is_found(
    sample: str,
    mutant: Callable[[pytest.MonkeyPatch], None],
    questions: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _violations_of_the_real_code(sample, questions) == 0
    mutant(monkeypatch)
    found = _run(_sample(sample), questions)
    assert found.audit.violations > 0
    assert "VIOLATIONS" in "\n".join(audit_report(found))


@pytest.mark.long
@pytest.mark.parametrize("sample", ["shop", _FIXED])
def test_halved_noise_does_not_come_to_an_audit(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses its plans."""
    real = discrete_laplace.scale_for
    monkeypatch.setattr(discrete_laplace, "scale_for", lambda s, e: real(s, e) / 2)
    with pytest.raises(NotPrivate):
        _run(_sample(sample), ORDERS)


# --- shapes that the samples do not have -------------------------------------------------------------

_SCHEMA = "m"
INVOICE, LINE, TRIP = (TableName(_SCHEMA, name) for name in ("invoice", "line", "trip"))
_AMOUNT = ColumnPolicy("amount", Bounds(Fraction(-50), Fraction(100)))
_KIND = ColumnPolicy("kind")


def _column(name: str, kind: SqlType, nullable: bool = True) -> Column:
    return Column(name, kind, kind.sql, nullable)


def _mixed(noise: Noise, median: MedianNoise, mechanism: Mechanism) -> CheckedPolicy:
    data = (_column("kind", SqlType.TEXT), _column("amount", SqlType.FLOAT8))
    key = _column("id", SqlType.INT8, False)
    catalog = Catalog(
        {
            INVOICE: Table(INVOICE, (key, _column("customer", SqlType.INT8), *data), ("id",)),
            LINE: Table(
                LINE,
                (key, _column("invoice", SqlType.INT8), *data),
                ("id",),
                foreign_keys=(ForeignKey(("invoice",), INVOICE, ("id",)),),
            ),
            TRIP: Table(TRIP, (key, *data), ("id",)),
        }
    )
    columns = {"kind": _KIND, "amount": _AMOUNT}
    tables = {
        INVOICE: ProtectedTable(INVOICE, IdentifierUnit("customer", "customer"), columns, 5, 2, 2),
        LINE: ProtectedTable(
            LINE, IdentifierUnit("customer", "invoice", UnitPath(INVOICE, "customer")), columns, 7
        ),
        TRIP: ProtectedTable(TRIP, RowUnit(3), columns),
    }
    # No column of these is about the same thing; the planted values meet all the same.
    tables[INVOICE] = replace(tables[INVOICE], join_keys={"kind": JoinKey(3)})
    tables[TRIP] = replace(tables[TRIP], join_keys={"kind": JoinKey(2)})
    privacy = replace(
        PRIVACY,
        epsilon=Fraction(4),
        max_epsilon=Fraction(4),
        noise=noise,
        median_noise=median,
        mechanism=mechanism,
    )
    return CheckedPolicy(Policy("m", "", privacy, tables, budgets(), "m"), catalog)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("noise", "median", "mechanism"),
    [
        (Noise.LAPLACE, MedianNoise.POLYPLACE, Mechanism.SMOOTH_MEDIAN),
        pytest.param(
            *(Noise.GAUSSIAN, MedianNoise.LAPLACE, Mechanism.BEST), marks=pytest.mark.long
        ),
        pytest.param(
            *(Noise.LAPLACE, MedianNoise.LAPLACE, Mechanism.CLIPPED_MEAN), marks=pytest.mark.long
        ),
        pytest.param(
            *(Noise.LAPLACE, MedianNoise.LAPLACE, Mechanism.SUM_OVER_COUNT), marks=pytest.mark.long
        ),
    ],
)
def test_references_k_rows_and_private_groups(
    noise: Noise, median: MedianNoise, mechanism: Mechanism
) -> None:
    found = _run(_mixed(noise, median, mechanism), None)
    assert found.audit.violations == 0, "\n".join(audit_report(found))
    names = {finding.release for finding in found.audit.findings}
    assert names >= {"groups", "sum", "count(*)"}
    assert any(name.endswith("avg") for name in names)  # or the sums that it is made of
    for table in (LINE, TRIP):
        (total,) = [
            f
            for f in found.audit.findings
            if f.release == "sum" and f.sql.endswith(f'FROM "m"."{table.name}"')
        ]
        assert 0.99 <= total.observed[1] / total.planned <= 1
    joins = [finding for finding in found.audit.findings if "JOIN" in finding.sql]
    assert len(joins) == 3 and all(finding.observed[1] > 0 for finding in joins)


@pytest.mark.long
def test_the_command_and_its_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_DSN", demo_sources()["shop"])
    questions, plot = tmp_path / "q.sql", tmp_path / "s.svg"
    questions.write_text(ORDERS)
    policy = tmp_path / "shop.yaml"
    chosen = "max_rows_per_unit: auto"
    assert SHOP_POLICY.read_text().count(chosen) == 1
    policy.write_text(SHOP_POLICY.read_text().replace(chosen, "max_rows_per_unit: 2"))
    arguments = ["audit", "--policy", str(policy), "--rows", "3"]
    arguments += ["--questions", str(questions), "--plot", str(plot)]
    done = CliRunner().invoke(command_line(), arguments)
    assert done.exit_code == 0 and "lower bound" in done.output, done.output
    assert plot.read_text().startswith("<svg")
    _unbounded(monkeypatch)
    done = CliRunner().invoke(command_line(), arguments)
    assert done.exit_code == 1 and "VIOLATED" in done.output, done.output


def test_the_doctor_command_leaves_the_demo_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_DSN", demo_sources()["shop"])
    for more in ([], ["--json"]):
        done = CliRunner().invoke(command_line(), ["doctor", "--policy", str(SHOP_POLICY), *more])
        assert done.exit_code == 0, done.output
    assert '"severity": "note"' in done.output


@pytest.mark.long
def test_constants_are_evaluated() -> None:
    """On the synthetic database, whose public tables are those of the audit."""
    found = _run(
        _sample("shop"),
        "SELECT count(*) FROM shop.orders WHERE created_at > now() - interval '900 days';"
        "SELECT count(*) FROM shop.orders WHERE created_at > to_timestamp('x', 'YYYY')",
        Size(rows=6),
    )
    assert len(found.audited_query) == 1 and found.audit.violations == 0
    assert "invalid value" in found.refused[0][1]
