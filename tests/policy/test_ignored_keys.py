"""A key of an earlier version is taken, changes nothing, and is told of."""

from __future__ import annotations

from dataclasses import replace

from proxy.policy.finding_names import FindingName
from proxy.policy.ignored_keys import ignored_key_findings
from proxy.policy_file.policy_yaml import read_policy
from tests.policy.test_golden import ENVIRONMENT, GOLDEN

_FILE = GOLDEN / "good" / "timeout_floor.yaml"


def test_timeout_floor_has_no_effect() -> None:
    text = _FILE.read_text("utf-8")
    policy = read_policy(text, _FILE.name, ENVIRONMENT)
    without = read_policy(text.replace(", timeout_floor: 300", ""), _FILE.name, ENVIRONMENT)
    assert replace(policy, digest=without.digest, has_timeout_floor=False) == without
    (finding,) = ignored_key_findings(policy)
    assert finding.name is FindingName.KEY_WITHOUT_EFFECT
    assert not list(ignored_key_findings(without))
