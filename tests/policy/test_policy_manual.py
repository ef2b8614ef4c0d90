"""The reference of policies explains every key that the reader knows, and no other."""

from __future__ import annotations

import re

from proxy.policy.finding_names import FindingName
from proxy.policy_file.policy_accept import ACCEPT_KEYS
from proxy.policy_file.policy_answers import (
    AGENTS_KEYS,
    MEDIAN_KEYS,
    PRIVACY_KEYS,
    PUBLICATION_KEYS,
)
from proxy.policy_file.policy_columns import COLUMN_KEYS
from proxy.policy_file.policy_prepared import PREPARED_KEYS
from proxy.policy_file.policy_schema import MANUAL
from proxy.policy_file.policy_tables import PUBLIC_KEYS, TABLE_KEYS
from proxy.policy_file.policy_yaml import BUDGET_KEYS, BUDGETS_KEYS, POLICY_KEYS


def test_every_key_is_explained() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    table = text[text.index("## Every key") : text.index("## Findings")]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    explained = {word for cell in first_cells for word in re.findall(r"`([^`]+)`", cell)}
    known = {
        *POLICY_KEYS,
        *(f"privacy.{key}" for key in PRIVACY_KEYS),
        *(f"tables.T.{key}" for key in (*TABLE_KEYS, *PUBLIC_KEYS)),
        *(f"tables.T.prepared.{key}" for key in PREPARED_KEYS),
        *(f"columns.C.{key}" for key in COLUMN_KEYS),
        *(f"budgets.{key}" for key in BUDGETS_KEYS),
        *BUDGET_KEYS,
        *(f"publish: {key}" for key in PUBLICATION_KEYS),
        *(f"accept.{key}" for key in ACCEPT_KEYS),
        *(f"agents.{key}" for key in AGENTS_KEYS),
        "tables.T: public",
        "reuse.now",
        "reuse.windows",
    }
    assert explained == known
    assert all(f"{{{key}: laplace}}" in table for key in MEDIAN_KEYS)


def test_every_finding_is_explained() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    section = text[text.index("## Findings") : text.index("## How exact will it be?")]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{f.name}` | {f.severity.value} | {f.meaning} |" for f in FindingName]
