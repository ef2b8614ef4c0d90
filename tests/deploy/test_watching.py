"""The dashboard and the alerts name metrics that there are, with labels that they have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from proxy.servers.metrics import FAMILIES, Metrics
from tests.deploy.files import DEPLOY

_RULES = DEPLOY / "prometheus" / "dpproxy.rules.yaml"
_ALERTS = (
    *("DpproxyDown", "DpproxyNotReady", "DpproxyTotalNearlySpent", "DpproxyPolicyNotTaken"),
    *("DpproxyPublicationStopped", "DpproxyFaults", "DpproxyRestarted"),
)
_METRIC = re.compile(r"\b(dpproxy_\w+)(?:\{([^}]*)\})?")


def _panels() -> list[dict[str, object]]:
    found = json.loads((DEPLOY / "grafana" / "dpproxy.json").read_text())["panels"]
    assert isinstance(found, list)
    return found


def _expressions() -> Iterator[str]:
    for panel in _panels():
        targets = panel["targets"]
        assert isinstance(targets, list) and targets
        yield from (target["expr"] for target in targets)
    variables = json.loads((DEPLOY / "grafana" / "dpproxy.json").read_text())["templating"]["list"]
    yield from (one["query"] for one in variables if one["type"] == "query")
    for rule in _rules():
        yield rule["expr"]


def _rules() -> list[dict[str, str]]:
    (group,) = yaml.safe_load(_RULES.read_text())["groups"]
    rules = group["rules"]
    assert isinstance(rules, list)
    return rules


@pytest.mark.parametrize("expression", sorted(set(_expressions())))
def test_an_expression_names_metrics_and_labels_that_there_are(expression: str) -> None:
    named = _METRIC.findall(expression)
    assert named, expression
    labels = set()
    for sample, matchers in named:
        name = sample.removesuffix("_bucket")
        assert name in FAMILIES, name
        labels |= {"le"} if name != sample else set()
        labels |= set(FAMILIES[name].labels)
        written = set(re.findall(r"(\w+)=", matchers))
        assert written <= set(FAMILIES[name].labels), (name, written)
    for grouping in re.findall(r"\bby \(([^)]*)\)", expression):
        assert set(re.split(r", *", grouping)) <= labels | {"instance"}, expression


def test_the_dashboard_shows_every_metric_but_that_of_versions_and_limits() -> None:
    panels = json.dumps(_panels())
    shown = {name for name in FAMILIES if re.search(rf"\b{name}(_bucket)?\b", panels)}
    assert len(_panels()) == 13
    assert set(FAMILIES) - shown == {
        *("dpproxy_build_info", "dpproxy_policy_info"),
        *("dpproxy_budget_spent_delta", "dpproxy_budget_limit_delta", "dpproxy_budget_spent_rho"),
    }
    places = [json.dumps(panel["gridPos"], sort_keys=True) for panel in _panels()]
    assert len(set(places)) == 13, "no panel lies on another"


def test_the_alerts() -> None:
    assert tuple(rule["alert"] for rule in _rules()) == _ALERTS
    readme = (DEPLOY / "README.md").read_text()
    for alert in _ALERTS:
        assert f"`{alert}`" in readme, "Watch it says what to do"


@pytest.mark.long
def test_promtool_takes_rules_and_metrics(tmp_path: Path) -> None:
    promtool = _promtool(tmp_path)
    checked = subprocess.run(
        [promtool, "check", "rules", _RULES], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, "7 rules found" in checked.stdout) == (0, True), checked.stderr
    metrics = Metrics(("shop",), "1.2.3", lambda: False)
    metrics.observe({"dpproxy_sessions": {("wire", "idle"): 3}}, {"ledger": True})
    read = subprocess.run(
        [promtool, "check", "metrics"], input=metrics.text(), capture_output=True, check=False
    )
    assert (read.returncode, read.stderr) == (0, b"")


def _promtool(folder: Path) -> str:
    """Of the path, or from Debian's package, which is unpacked and not installed."""
    found = shutil.which("promtool")
    if found is not None:
        return found
    got = None
    if shutil.which("apt-get") and shutil.which("dpkg"):
        download = ["apt-get", "download", "-qq", "prometheus"]
        got = subprocess.run(download, cwd=folder, capture_output=True, check=False)
    if got is None or got.returncode:
        pytest.skip("there is no promtool, and apt-get cannot get one")
    (package,) = folder.glob("prometheus_*.deb")
    subprocess.run(["dpkg", "-x", package, folder / "unpacked"], check=True)
    return str(folder / "unpacked" / "usr" / "bin" / "promtool")
