"""What the ledger keeps of a policy's text: all that it says, and no connection string."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.policy.policy_changes import policy_changes
from proxy.policy_file.policy_yaml import read_policy
from proxy.policy_file.shown_text import kept_statement, kept_text
from tests.samples import ALL_SAMPLES

_MARKED = "marked_5ecret"
_POLICY = f"""\
# before: host=old password={_MARKED}
dpproxy: 1
database: shop
source: SOURCE   # or host=other password={_MARKED}
privacy: {{epsilon: 1, delta: 1e-8}}
tables:
  shop.customers:
    unit: {{customer: id}}
    columns:
      state: {{values: [CA, 'null', null, "a, b: {{c}} # d"]}}
      day: {{bounds: [2018-01-01 00:00:00, now]}}
publish:
  - {{name: n, sql: "SELECT count(*) FROM shop.customers WHERE state <> '{_MARKED}'", every: 1d, epsilon: 1}}
budgets: {{total: {{epsilon: 20, delta: 1e-5}}, default: {{epsilon: 2, delta: 1e-6}}}}
accept: {{PUBLIC_IS_NOT_NEEDED: {{shop.x: because of host=db password={_MARKED}}}}}
"""
_DSN = f"host=db password={_MARKED}"


@pytest.mark.parametrize(
    "source",
    [_DSN, f"'{_DSN}'", f">-\n  host=db\n  password={_MARKED}", "${DSN}"],
)
def test_no_connection_string_and_nothing_else_is_left_out(source: str) -> None:
    text = _POLICY.replace("SOURCE   #", f"{source}\n#")
    policy = read_policy(text, "p.yaml", {"DSN": _DSN})
    kept = kept_text(policy.text, policy.source)
    assert _MARKED not in kept and "host=" not in kept and "DSN" not in kept
    again = read_policy(kept, "kept", {})
    assert kept_text(again.text, again.source) == kept
    published = tuple(replace(one, sql=kept_statement(one.sql)) for one in policy.publish)
    hidden = replace(policy, source=again.source, accepted=again.accepted, publish=published)
    assert again.tables == policy.tables and policy_changes(hidden, again) == []


@pytest.mark.parametrize("name", [one.name for one in ALL_SAMPLES])
def test_what_is_kept_of_a_sample_says_the_same(name: str) -> None:
    (sample,) = (one for one in ALL_SAMPLES if one.name == name)
    text = sample.policy_file.read_text("utf-8")
    policy = read_policy(text, "p.yaml", _Any())
    again = read_policy(kept_text(text, policy.source), "kept", {})
    as_kept = tuple(replace(one, sql=kept_statement(one.sql)) for one in policy.publish)
    assert policy_changes(replace(policy, source=again.source, publish=as_kept), again) == []


class _Any(dict[str, str]):
    def get(self, key: str, default: object = None) -> str:
        return "host=db"

    def __getitem__(self, key: str) -> str:
        return "host=db"
