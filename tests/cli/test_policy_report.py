"""`dpproxy policy report`: complete, in step with proofs and SECURITY.md, and without a secret."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import LineKind
from proxy.engine.policy_report import LedgerFacts, policy_report
from proxy.engine.report_evidence import ASSUMPTIONS, NOT_PROMISED, PROVEN_PARTS, TESTED
from proxy.engine.report_formats import report_html, report_json, report_markdown
from proxy.engine.report_sections import EarlierReport, changes_section
from proxy.ledger.adjustments import Adjustment, WaitingRequest, adjust, confirm
from proxy.ledger.admin_log import at_the_command_line
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy
from tests.cli.commands import dpproxy
from tests.samples import SHOP_POLICY
from tests.servers_fixture import new_lease, servers

_ROOT = Path(__file__).parents[2]
_MARKED = "marked_5ecret"
_POLICY = f"""\
dpproxy: 1
database: shop
source: host=marked_host dbname=d user=u password={_MARKED}
privacy: {{epsilon: 1, delta: 1e-8, noise: gaussian}}
min_units_per_group: 11
units_about: 5000
tables:
  shop.customers:
    unit: {{customer: id}}
    max_rows_per_unit: 1
    columns: {{state: {{values: [CA, 'a|b <i>']}}, age: {{bounds: [0, 120]}}}}
  shop.products: public
budgets:
  total: {{epsilon: 20, delta: 1e-5}}
  default: {{epsilon: 2, delta: 1e-6, per: month}}
accept:
  PUBLIC_IS_NOT_NEEDED:
    shop.products: {{because: it is in every shop window, said_by: Ida, said_on: 2026-11-20}}
"""
_AT = datetime(2026, 11, 27, 9, 30, tzinfo=timezone.utc)
_FORMATS = (report_markdown, report_html, report_json)


def _texts(text: str = _POLICY, ledger: LedgerFacts | None = None) -> list[str]:
    report = policy_report(read_policy(text, "p.yaml", {}), ledger, "1.2.3", _AT)
    return [print_as(report) for print_as in _FORMATS]


def test_every_format_says_what_officers_ask() -> None:
    spent = ("(everybody together)", "none", "3", "20", "0", "1e-5", "0", "-", "15 %", "7")
    back = (
        "2026-11-01 10:00:00 UTC",
        "(group press)",
        "-1",
        "0",
        "0",
        "asked twice",
        "root",
        "otto",
    )
    ledger = LedgerFacts(source="shop", spent=(spent,), adjustments=(back,), waiting=("-3 by Kim",))
    for text in _texts(ledger=ledger):
        for said in (
            *("each customer (in id)", "5,000 units", "shop.products", "[0, 120]"),
            *(
                "it is in every shop window",
                "Ida",
                "2026-11-20",
                "discrete Gaussian noise",
                "PROOFS.md 5",
            ),
            *("24", "1 in 37", "11", "shifted partition selection", "Re:cord-play"),
            *("15 %", "asked twice", "root", "otto", "-3 by Kim", "1.2.3", "No exact quantity"),
        ):
            assert said in text.replace("\\[", "[").replace("\\]", "]"), said


@pytest.mark.parametrize("more", ["said_on: 2026-13-01", "said_on: soon", "said_by: ''", "said: x"])
def test_who_said_it_and_when_is_read_strictly(more: str) -> None:
    with pytest.raises(PolicyErrors, match="said"):
        read_policy(_POLICY.replace("said_by: Ida, said_on: 2026-11-20", more), "p.yaml", {})
    (accepted,) = read_policy(_POLICY, "p.yaml", {}).accepted
    assert accepted.said == "it is in every shop window (said by Ida on 2026-11-20)"


def test_what_an_owner_writes_is_text_in_every_format() -> None:
    markdown, html, as_json = _texts()
    assert r"a\|b \<i\>" in markdown and "a|b &lt;i&gt;" in html and "<i>" not in html
    public = json.loads(as_json)["sections"]["public"]["rows"]
    assert public[0]["as stated"] == "CA, a|b <i>"


@pytest.mark.parametrize("kind", ["markdown", "html", "json"])
def test_no_connection_string_is_printed(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    for source, given in (
        ("${SHOP_DSN}", {}),
        ("${SHOP_DSN}", {"SHOP_DSN": f"host=marked_host password={_MARKED}"}),
        (f"host=marked_host password={_MARKED}", {}),
    ):
        file.write_text(re.sub("source: .*", f"source: {source}", _POLICY), encoding="utf-8")
        done = dpproxy("policy", "report", file, "--format", kind, environment=given)
        assert done.code == 0 and "No exact quantity" in done.out, done.err
        assert "marked" not in done.out + done.err and "SHOP_DSN" not in done.out


def test_what_the_ledger_says_is_in_the_report() -> None:
    lease = new_lease(servers().ledger_dsn, read_policy(_POLICY, "p.yaml", {}))
    for epsilon, reason in ((3, "released by hand"), (-1, "released | once only")):
        by = Amount(Fraction(epsilon), Fraction(0))
        wanted = Adjustment(kind=LineKind.TOTAL, name="", by=by, reason=reason)
        made = adjust(lease.ledger_dsn, lease.source, wanted)
    assert isinstance(made, WaitingRequest)
    confirm(lease.ledger_dsn, made.number, "admin API: otto from ::1")
    (name,) = _names(lease.source)
    reporting = ("policy", "report", SHOP_POLICY, "--ledger", lease.ledger_dsn, "--format", "json")
    done = dpproxy(*reporting, "--source", name)
    assert done.code == 0, done.err
    sections = json.loads(done.out)["sections"]
    (total,) = (one for one in sections["spent"]["rows"] if one["per"] == "none")
    assert (total["epsilon spent"], total["epsilon limit"]) == ("2", "20")
    assert not any("restored" in one for one in sections["spent"]["text"])
    added, back = sections["adjustments"]["rows"]
    assert (added["epsilon"], added["confirmed by"]) == ("3", "-")
    assert (back["epsilon"], back["reason"]) == ("-1", "released | once only")
    assert back["confirmed by"] == "admin API: otto from ::1"
    refused = dpproxy("policy", "report", SHOP_POLICY, "--source", name)
    assert refused.code != 0 and "--ledger" in refused.err


def _changes(*arguments: str | Path, policy: Path) -> dict[str, Any]:
    done = dpproxy("policy", "report", policy, "--format", "json", *arguments)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)["sections"]["changes"]
    return found


def test_a_report_says_what_has_changed_since_the_last_one_that_was_noted(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(_POLICY, "utf-8")
    lease = new_lease(servers().ledger_dsn, read_policy(_POLICY, "p.yaml", {}))
    (name,) = _names(lease.source)
    ledger = ("--ledger", lease.ledger_dsn, "--source", name)
    assert "cannot tell" in " ".join(_changes(policy=file)["text"])
    for _ in range(2):  # the first one notes nothing
        assert "No earlier report" in " ".join(_changes(*ledger, policy=file)["text"])
    _changes(*ledger, "--record", policy=file)
    same = " ".join(_changes(*ledger, policy=file)["text"])
    assert "The policy is the same." in same and at_the_command_line() in same
    file.write_text(re.sub("host=marked_host", "host=other", f"# {_MARKED}\n{_POLICY}"), "utf-8")
    assert "say the same" in " ".join(_changes(*ledger, policy=file)["text"])
    weaker = re.sub("min_units_per_group: 11", "min_units_per_group: 2", _POLICY)
    weaker = re.sub("{epsilon: 20,", "{epsilon: 12,", weaker)
    lease.change(read_policy(weaker, "p.yaml", {}))
    digest = read_policy(weaker, "p.yaml", {}).digest[:12]
    file.write_text(re.sub("epsilon: 2,", "epsilon: 3,", weaker), "utf-8")
    changed = _changes(*ledger, policy=file)
    found = {row["key of the policy"]: row["protection of people"] for row in changed["rows"]}
    assert found == {
        "min_units_per_group": "weaker",
        "budgets.total": "stronger",
        "budgets.default": "weaker",
    }
    said = " ".join(changed["text"])
    assert f"{digest} (" in said and "weaker in 2 points, stronger in 1 point" in said
    with psycopg.connect(lease.ledger_dsn) as connection:
        kept = connection.execute("SELECT digest, text FROM ledger.policy_text").fetchall()
    assert read_policy(weaker, "p.yaml", {}).digest in dict(kept)
    assert not any(_MARKED in text or "host=" in text for _, text in kept)
    refused = dpproxy("policy", "report", file, "--record")
    assert refused.code != 0 and "--ledger" in refused.err


def test_what_cannot_be_compared_is_said() -> None:
    policy = read_policy(_POLICY, "p.yaml", {})
    gone = EarlierReport(digest="f" * 64, at="then", by="Ida", policy=None, served=())
    section = changes_section(policy, gone)
    assert "cannot be told" in " ".join(section.text) and not section.rows


def _names(source: int) -> list[str]:
    from proxy.ledger.ledger_sources import known_sources

    return [one.name for one in known_sources(servers().ledger_dsn) if one.id == source]


def test_an_officers_questions_are_answered() -> None:
    """As somebody asked who had read the report of the shop's sample, and nothing else."""
    shop = read_policy(SHOP_POLICY.read_text("utf-8"), "p.yaml", {"SHOP_DSN": "host=db"})
    facts = LedgerFacts(
        source="shop",
        spent=(),
        adjustments=(),
        analysts=(("alice", "press", "yes"),),
        first_served="2026-11-01",
        restored=("on 2026-11-03 as of 2026-11-02",),
    )
    sections = {one.key: one for one in policy_report(shop, facts, "1.2.3", _AT).sections}

    def said(key: str) -> str:
        return " ".join((*sections[key].text, *(" ".join(row) for row in sections[key].rows)))

    assert "any other guess about a customer" in said("unit")
    assert "alice press yes" in said("analysts")
    assert "Of 10 facts 10 name nobody" in said("public")
    assert "TOTAL_RENEWS" in said("findings") and "policy check" in said("findings")
    assert "excludes hardly any guess" in said("budgets") and "99.940 %" in said("budgets")
    assert "number of units is 5 %" in said("budgets")
    lines = {row[0]: row[1:] for row in sections["budgets"].rows}
    assert (
        lines["budgets.total"][0] == "all analysts together" and lines["budgets.total"][4] == "40"
    )
    assert (
        lines["budgets.default"][0].startswith("each analyst")
        and lines["budgets.default"][4] == "24"
    )
    assert lines["privacy (each statement)"][5:] == ("1 in 61", "63 %")
    assert "nothing is promised against somebody who has all answers" in said("budgets")
    assert "for statements: 8." in said("budgets") and "1.65 times" in said("unit")
    assert "as of 2026-11-02: what was spent in between is not in" in said("spent")
    assert "budgets.default 144 6e-5 the total ends it at epsilon 20" in said("year")
    assert "with one unit" in said("smallest_groups") and "within 6" in said("smallest_groups")
    assert "2026-10-31]: the bounds ended before this report" in said("clipping")
    assert "units_about" in said("public") and "auto: chosen" in said("clipping")
    assert "within 24 h" in said("kept") and "erasure" in said("kept")
    assert "purpose and the legal basis" in said("outside")
    page = (_ROOT / "docs/reference/policy-report.md").read_text("utf-8")
    assert [key for key in sections if f"(`{key}`)" not in page] == []


def test_what_a_policy_accepts_is_no_open_finding() -> None:
    wide = _POLICY.replace("epsilon: 20,", "epsilon: 60,")
    more = "  TOTAL_IS_LARGE: {budgets.total: the data are invented}\n"
    for text, is_open in ((wide, True), (wide + more, False)):
        (found,) = (
            one
            for one in policy_report(read_policy(text, "p", {}), None, "1", _AT).sections
            if one.key == "findings"
        )
        assert ("TOTAL_IS_LARGE" in str(found.rows)) is is_open


def test_a_total_of_each_block_of_time_is_no_total_of_all_years() -> None:
    text = _POLICY.replace(
        "{customer: id}", "{customer: id, per: month, of: at}\n    append_only: on"
    )
    text = text.replace("age: {", "at: {bounds: [2024-01-01, 2029-12-31]}, age: {")
    policy = read_policy(text, "p.yaml", {})
    sections = {one.key: one for one in policy_report(policy, None, "1", _AT).sections}
    said = " ".join((*sections["year"].text, str(sections["year"].rows)))
    assert "12 times that" in said and "all years" not in said and "ends at" not in said
    assert "PROOFS.md 34" in str(sections["mechanisms"].rows)


def test_json_has_the_fields_of_the_registry_and_of_the_label() -> None:
    found = json.loads(_texts()[2])
    entry = found["registry"]
    assert entry["dp_variant"]["unprotected_quantities"] == "shop.products"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 20, "delta": 1e-5}
    assert entry["privacy_loss"]["number_of_privacy_units"] == 5000
    assert "discrete Gaussian noise" in entry["implementation"]["mechanisms"]
    assert (found["label"]["unit"], found["label"]["epsilon"]) == ("a customer", 20)


def test_what_cannot_concern_a_policy_is_left_out() -> None:
    """And words that the report does not use are not explained; without a ledger it is not to be filed."""
    report = policy_report(read_policy(_POLICY, "p.yaml", {}), None, "1", _AT)
    sections = {one.key: one for one in report.sections}
    limits = [row[1] for row in sections["not_promised"].rows]
    assert "Time" in limits and not any("series" in one or "blocks" in one for one in limits)
    words = [word for word, _ in sections["words"].rows]
    assert "epsilon" in words and "series" not in words
    assert "--record" in report.head["do not file"]
    assert "1 in 1,000" in " ".join(sections["smallest_groups"].text)


def test_side_channels_are_those_of_security_md() -> None:
    _, _, text = (_ROOT / "SECURITY.md").read_text("utf-8").partition("## What is not promised")
    assert list(NOT_PROMISED) == re.findall(r"^- \*\*(.*?)\*\*", text, re.MULTILINE)


def test_proofs_and_tests_are_where_the_report_says() -> None:
    proofs = (_ROOT / "proxy/mechanisms/PROOFS.md").read_text("utf-8")
    for part in PROVEN_PARTS:
        assert f"\n## {part.section}. {part.title}" in proofs, part.title
    assert f"\n## {ASSUMPTIONS}. Assumptions" in proofs
    assert all((_ROOT / folder).is_dir() for _, _, folder in TESTED)
    security = (_ROOT / "SECURITY.md").read_text("utf-8")
    assert "39 statements, three customers" in security
