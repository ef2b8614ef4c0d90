"""What this process makes of each golden statement, as text: `python -m tests.planner.planned_elsewhere`."""

from __future__ import annotations

import json

from proxy.base.errors import Refusal
from proxy.kernel.plan_digest import canonical_text
from tests.cases import Case, in_folder
from tests.planner.test_golden_pipeline import PIPELINE, REFUSED, pipeline_of


def _made(case: Case) -> str:
    try:
        found = pipeline_of(case)
    except Refusal as refusal:
        return f"{refusal.message} {refusal.hint}"
    if found is None:
        return ""
    sql = [query.sql for of_block in found.queries for query in of_block]
    return "\n".join([canonical_text(found.plan), *sql])


if __name__ == "__main__":
    print(
        json.dumps(
            {
                case.place: _made(case)
                for folder in (PIPELINE, REFUSED)
                for case in in_folder(folder)
            }
        )
    )
