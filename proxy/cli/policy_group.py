"""`dpproxy policy`: the commands about policies, from several modules."""

from __future__ import annotations

import typer

from proxy.cli.diff_command import policy_diff
from proxy.cli.drafting_commands import policy_init, policy_schema
from proxy.cli.policy_commands import policy_bounds, policy_check, policy_manual, policy_role
from proxy.cli.report_command import policy_report_command
from proxy.cli.sample_commands import policy_samples

policy = typer.Typer(no_args_is_help=True, help="Policies.")
policy.command("init")(policy_init)
policy.command("samples")(policy_samples)
policy.command("check")(policy_check)
policy.command("diff")(policy_diff)
policy.command("report")(policy_report_command)
policy.command("bounds")(policy_bounds)
policy.command("manual")(policy_manual)
policy.command("schema")(policy_schema)
policy.command("role")(policy_role)
