"""dbt: a project over the demo's shop, in a folder of its own, run by dbt's own commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from each_feature import DATABASE, HOST, PASSWORD, PORT, USER, run

PROJECT = Path(os.environ["DP_FOLDER"]) / "project"
DBT = Path(sys.executable).with_name("dbt")
FILES = {
    "dbt_project.yml": """\
name: shop
version: "1.0"
profile: shop
flags: {send_anonymous_usage_stats: false}
""",
    "profiles.yml": f"""\
shop:
  target: proxy
  outputs:
    proxy: {{type: postgres, host: {HOST}, port: {PORT}, user: {USER}, password: "{PASSWORD}",
             dbname: {DATABASE}, schema: public, threads: 1, sslmode: disable}}
""",
    "models/sources.yml": """\
version: 2
sources:
  - name: shop
    schema: shop
    tables:
      - name: products
      - name: orders
        columns:
          - name: total
            data_tests:
              - not_null: {config: {error_if: ">200", warn_if: ">200"}}
          - name: status
            data_tests:
              - accepted_values:
                  arguments: {values: [paid, shipped, returned, cancelled]}
                  config: {error_if: ">200", warn_if: ">200"}
""",
    "models/by_status.sql": """\
{{ config(materialized='ephemeral') }}
select status, count(*) as n, sum(total) as total from {{ source('shop', 'orders') }} group by status
""",
    # Its session ends with it: what follows has to be a hook.
    "models/answers.sql": """\
{{ config(materialized='temporary',
          post_hook="select 1 / (select case when sum(n) > 50000 then 1 else 0 end from answers)") }}
select status, n from {{ ref('by_status') }}
""",
    "models/wrong_answers.sql": """\
{{ config(materialized='temporary',
          post_hook="select 1 / (select case when sum(n) > 70000 then 1 else 0 end from wrong_answers)") }}
select status, n from {{ ref('by_status') }}
""",
    "macros/temporary.sql": """\
{% materialization temporary, adapter='postgres' %}
  {{ run_hooks(pre_hooks) }}
  {% call statement('main') %}
    create temporary table {{ this.identifier }} as {{ sql }}
  {% endcall %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': []}) }}
{% endmaterialization %}
""",
    "tests/enough_orders.sql": """\
select n from (select count(*) as n from {{ source('shop', 'orders') }}) counted where abs(n - 60000) > 2000
""",
    "tests/too_few_orders.sql": """\
select status, n from {{ ref('by_status') }} where n < 100000
""",
}


def dbt(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(DBT), *arguments],
        cwd=PROJECT,
        env={**os.environ, "DBT_PROFILES_DIR": str(PROJECT), "HOME": str(PROJECT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def well(*arguments: str) -> object:
    code, written = dbt("--no-use-colors", *arguments)
    assert code == 0, written[-1500:]
    return True


def docs() -> object:
    well("docs", "generate")
    found = json.loads((PROJECT / "target" / "catalog.json").read_text())
    columns = found["sources"]["source.shop.shop.orders"]["columns"]
    assert {"total", "status", "created_at"} <= columns.keys(), columns
    return columns["total"]["type"] == "numeric(8,2)"


def show() -> object:
    query = "select count(*) as n from {{ source('shop', 'orders') }}"
    code, written = dbt("--quiet", "show", "--inline", query, "--output", "json")
    assert code == 0, written[-1500:]
    row = json.loads(written[written.index("{") :])["show"][0]
    return abs(row["n"] - 60_000) < 2_000


def fails(*arguments: str, by: str) -> object:
    code, written = dbt("--no-use-colors", *arguments)
    assert code != 0 and by in written, written[-1500:]
    return True


def main() -> None:
    for name, text in FILES.items():
        path = PROJECT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    rows = "select total from {{ source('shop', 'orders') }}"
    run(
        f"dbt {version('dbt-core')}, dbt-postgres {version('dbt-postgres')}",
        {
            "debug": lambda: well("debug"),
            "docs": docs,
            "show": show,
            "ephemeral": lambda: well("show", "--inline", "select * from {{ ref('by_status') }}"),
            "temporary": lambda: (
                well("run", "--select", "answers")
                and fails("run", "--select", "wrong_answers", by="division by zero")
            ),
            "column_tests": lambda: well("test", "--select", "test_type:generic"),
            "tolerance": lambda: well("test", "--select", "enough_orders"),
            "failing_test": lambda: fails("test", "--select", "too_few_orders", by="4"),
            "raw_rows": lambda: fails("show", "--inline", rows, by="HINT"),
        },
    )


if __name__ == "__main__":
    main()
