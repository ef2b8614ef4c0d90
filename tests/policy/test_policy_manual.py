"""The reference of policies explains every key that the reader knows, and no other."""

from __future__ import annotations

import re

from proxy.policy.finding_names import FindingName
from proxy.policy_file.policy_schema import MANUAL
from proxy.policy_file.policy_shapes import Keyed
from proxy.policy_file.policy_yaml import POLICY
from tests.policy.test_schema import keyed_shapes


def _names(shape: Keyed) -> set[str]:
    """As the manual writes the keys of a shape."""
    match shape.about:
        case "":
            return set()
        case "of a budget":
            return set(shape.keys)
        case "publish":
            return {f"publish: {key}" for key in shape.keys}
        case about:
            return {f"{about}.{key}" for key in shape.keys}


def test_every_key_is_explained() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    table = text[text.index("## Every key") : text.index("## Findings")]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    explained = {word for cell in first_cells for word in re.findall(r"`([^`]+)`", cell)}
    known = {*POLICY.keys, "tables.T: public", "reuse.now", "reuse.windows"}
    known = known.union(*map(_names, keyed_shapes(POLICY)))
    assert explained == known
    assert "{noise: laplace}" in table  # of `median`


def test_every_finding_is_explained() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    section = text[text.index("## Findings") : text.index("## How exact will it be?")]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{f.name}` | {f.severity.value} | {f.meaning} |" for f in FindingName]
