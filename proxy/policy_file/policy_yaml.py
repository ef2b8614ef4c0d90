"""Reads a policy file: all errors at once, each with file:line:column, the line and a caret.

Nothing is guessed and nothing is defaulted that would weaken the protection: an unknown key, a
duplicate, a part of the format that this version does not have, a number that is not exact - each
is an error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from proxy.base.limits import POLICY_BYTES
from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.policy.findings import Problem
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Accounting,
    Budget,
    Budgets,
    Period,
    Policy,
    Previews,
    ProtectedTable,
    PublicTable,
    StatementTexts,
)
from proxy.policy_file.policy_accept import ACCEPT, read_acceptances
from proxy.policy_file.policy_answers import (
    AGENTS,
    PRIVACY,
    PUBLISH,
    REUSE,
    read_approve_above,
    read_privacy,
    read_publications,
    read_reuse,
)
from proxy.policy_file.policy_errors import PolicyErrors, PolicyProblem, ProblemList, quoted_text
from proxy.policy_file.policy_nodes import (
    fields,
    identifier,
    is_identifier,
    member,
    named_entries,
    number,
    text,
    whole,
)
from proxy.policy_file.policy_shapes import (
    TEXT,
    Keyed,
    NamedBy,
    Number,
    one_of,
    whole_number,
)
from proxy.policy_file.policy_tables import FEWEST, FEWEST_UNITS, TABLES, read_tables
from proxy.policy_file.yaml_positions import (
    START,
    Entry,
    MappingNode,
    Node,
    Position,
    RefusedNode,
    ScalarNode,
    SequenceNode,
    compose,
)

# The `budgets` of a policy file: of everybody together, of analysts, groups of them, and tables.

_BUDGET = Keyed(
    {
        "epsilon": Number(Fraction(0)),
        "delta": Number(Fraction(0), below=Fraction(1)),
        "per": one_of(Period),
    },
    required=("epsilon", "delta"),
    about="of a budget",
)
BUDGETS = Keyed(
    {
        "total": _BUDGET,
        "default": _BUDGET,
        "analysts": NamedBy(_BUDGET),
        "groups": NamedBy(_BUDGET),
        "tables": NamedBy(_BUDGET),
    },
    required=("total", "default"),
    about="budgets",
)

_LIFETIME = (Period.NONE,)


def read_budgets(
    entry: Entry,
    tables: Mapping[TableName, ProtectedTable | PublicTable],
    problems: ProblemList,
) -> Budgets | None:
    """tables: of the policy, as far as they could be read."""
    found = fields(entry.value, "budgets", entry.key_at, BUDGETS, problems)
    if found is None:
        return None
    total = default = None
    if "total" in found:
        total = _budget(found["total"], "the total", _LIFETIME, problems)
    if "default" in found:
        default = _budget(found["default"], "the default", tuple(Period), problems)
    analysts = _named(found.get("analysts"), "analysts", "analyst", problems)
    groups = _named(found.get("groups"), "groups", "group", problems)
    of_tables = _of_tables(found.get("tables"), tables, problems)
    if total is None or default is None:
        return None
    return Budgets(total, default, analysts, groups, of_tables)


def _named(entry: Entry | None, key: str, one: str, problems: ProblemList) -> Mapping[str, Budget]:
    budgets: dict[str, Budget] = {}
    named = None if entry is None else named_entries(entry.value, key, problems)
    for each in (named or {}).values():
        article = "an" if one == "analyst" else "a"
        if not is_identifier(each.key, f"{article} {one}", each.key_at, problems):
            continue
        budget = _budget(each, f"{one} {quoted_text(each.key)}", tuple(Period), problems)
        if budget is not None:
            budgets[each.key] = budget
    return budgets


def _of_tables(
    entry: Entry | None,
    tables: Mapping[TableName, ProtectedTable | PublicTable],
    problems: ProblemList,
) -> Mapping[TableName, Budget]:
    budgets: dict[TableName, Budget] = {}
    named = None if entry is None else named_entries(entry.value, "tables", problems)
    by_text = {str(name): table for name, table in tables.items()}
    for each in (named or {}).values():
        table = by_text.get(each.key)
        if not isinstance(table, ProtectedTable):
            what = "is not in 'tables'" if table is None else "is public: nothing is spent on it"
            protected = [n for n, one in by_text.items() if isinstance(one, ProtectedTable)]
            hint = problems.nearest(each.key, protected)
            hint = hint or f"protected tables: {', '.join(protected) or 'none'}"
            problems.add(each.key_at, f"the table {quoted_text(each.key)} {what}", hint)
            continue
        budget = _budget(each, f"table {quoted_text(each.key)}", _LIFETIME, problems)
        if budget is not None:
            budgets[table.name] = budget
    return budgets


def _check_never(where: str, node: Node, problems: ProblemList) -> None:
    """`per` of a budget for good, which has one meaning only."""
    if not isinstance(node, ScalarNode | RefusedNode) or (
        isinstance(node, ScalarNode) and node.text != Period.NONE.value
    ):
        problems.add(
            node.at,
            "the total budget does not renew"
            if where == "the total"
            else f"the budget of {where} does not renew",
            "it bounds what all analysts together ever learn: remove 'per'",
        )


def _budget(
    entry: Entry, where: str, periods: tuple[Period, ...], problems: ProblemList
) -> Budget | None:
    found = fields(entry.value, where, entry.key_at, _BUDGET, problems)
    if found is None:
        return None
    epsilon = number(found["epsilon"].value, "epsilon", problems) if "epsilon" in found else None
    delta = number(found["delta"].value, "delta", problems) if "delta" in found else None
    if epsilon is not None and epsilon < 0:
        problems.add(
            found["epsilon"].value.at, "epsilon of a budget cannot be below 0", "0 allows nothing"
        )
        epsilon = None
    if delta is not None and not 0 <= delta < 1:
        hint = "such as 1e-4: a hundred statements of delta 1e-6"
        problems.add(found["delta"].value.at, "delta of a budget must be from 0 to below 1", hint)
        delta = None
    period: Period | None = Period.NONE
    if "per" in found:
        if periods == _LIFETIME:
            _check_never(where, found["per"].value, problems)
        else:
            period = member(found["per"], Period, problems)
    if epsilon is None or delta is None or period is None:
        return None
    return Budget(Loss(epsilon, delta), period)


VERSION = 1
_UNITS = whole_number(1, 10**10)
POLICY = Keyed(
    {
        "dpproxy": Number(Fraction(VERSION), Fraction(VERSION)),
        "database": TEXT,
        "source": TEXT,
        "privacy": PRIVACY,
        "tables": TABLES,
        "budgets": BUDGETS,
        "accept": ACCEPT,
        "previews": one_of(Previews),
        "reuse": REUSE,
        "statements": one_of(StatementTexts),
        "accounting": one_of(Accounting),
        "publish": PUBLISH,
        "units_about": _UNITS,
        FEWEST_UNITS: FEWEST,
        "agents": AGENTS,
    },
    required=("dpproxy", "database", "source", "privacy", "tables", "budgets"),
)

_VARIABLE = re.compile(r"\$\{([^}]*)\}?")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_policy(text: str, file: str, environment: Mapping[str, str]) -> Policy:
    """The policy that a file's text states.

    Given    file: its name, for error texts; environment: where `${NAME}` in `source` comes from
    Gives    a policy that is consistent in itself; proxy.policy.check holds it against a catalogue
    Refuses  anything else with PolicyErrors, which lists every problem of the file
    """
    if len(text.encode("utf-8", "surrogatepass")) > POLICY_BYTES:
        raise PolicyErrors([_too_long()], "", file)
    root, yaml_problems = compose(text)
    problems = ProblemList()
    for found in yaml_problems:
        problems.add(found.at, found.message, found.hint)
    policy = None
    if root is not None:
        policy = _policy(root, text, environment, problems)
    elif not yaml_problems:
        hint = "dpproxy policy init DSN writes a first policy for a database"
        problems.add(START, "the file is empty", hint)
    if policy is None or problems.found:
        raise PolicyErrors(problems.found, text, file)
    return policy


def policy_text(path: Path) -> str:
    """The text of a policy file.

    Refuses  a file of more than 1 MiB or not in UTF-8, with PolicyErrors; OSError as it comes
    """
    with path.open("rb") as stream:
        content = stream.read(POLICY_BYTES + 1)
    if len(content) > POLICY_BYTES:
        raise PolicyErrors([_too_long()], "", str(path))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = PolicyProblem("not UTF-8", line, 1, "save the file in UTF-8")
        raise PolicyErrors([problem], "", str(path)) from None


def locate(problems: Sequence[Problem], text: str, file: str) -> PolicyErrors:
    """The problems that proxy.policy.check found, at the places of the file that they are about."""
    root, _ = compose(text)
    located = ProblemList()
    for problem in problems:
        located.add(_position(root, problem), problem.message, problem.hint)
    return PolicyErrors(located.found, text, file)


def _position(root: Node | None, problem: Problem) -> Position:
    """Of the key or value at the path, or of the nearest thing above it that is in the file."""
    at, node = START, root
    for depth, step in enumerate(problem.path, start=1):
        match node:
            case MappingNode(entries=entries) if isinstance(step, str) and step in entries:
                entry = entries[step]
                wants_key = problem.at_key and depth == len(problem.path)
                at, node = (entry.key_at if wants_key else entry.value.at), entry.value
                if isinstance(node, MappingNode):
                    at = entry.key_at  # a mapping below its key starts at some other key
            case SequenceNode(items=items) if isinstance(step, int) and 0 <= step < len(items):
                at, node = items[step].at, items[step]
            case _:
                return at
    return at


def _too_long() -> PolicyProblem:
    hint = "put long lists of values into a public table, and join it"
    return PolicyProblem(f"a policy has at most {POLICY_BYTES} bytes", 1, 1, hint)


def _policy(
    root: Node, text: str, environment: Mapping[str, str], problems: ProblemList
) -> Policy | None:
    if isinstance(root, MappingNode) and _is_other_version(root.entries.get("dpproxy"), problems):
        return None  # the rest is written in a format that this version does not know
    found = fields(root, "the policy", START, POLICY, problems)
    if found is None:
        return None
    database = source = privacy = budgets = None
    tables: Mapping[TableName, ProtectedTable | PublicTable] = {}
    if "database" in found:
        database = identifier(found["database"].value, "database", problems)
    if "source" in found:
        source = _source(found["source"].value, environment, problems)
    if "privacy" in found:
        privacy = read_privacy(found["privacy"], problems)
    if "tables" in found:
        tables = read_tables(found["tables"], problems)
    if "budgets" in found:
        budgets = read_budgets(found["budgets"], tables, problems)
    accepted = read_acceptances(found["accept"], problems) if "accept" in found else ()
    previews = member(found.get("previews"), Previews, problems, Previews.REFUSE)
    reuse = read_reuse(found.get("reuse"), problems)
    statements = member(found.get("statements"), StatementTexts, problems, StatementTexts.HASHED)
    accounting = member(found.get("accounting"), Accounting, problems, Accounting.BASIC)
    published = read_publications(found.get("publish"), privacy, problems)
    units_about = whole(found.get("units_about"), _UNITS, problems)
    fewest = whole(found[FEWEST_UNITS], FEWEST, problems) if FEWEST_UNITS in found else 1
    approve_above = read_approve_above(found.get("agents"), problems)
    if database is None or source is None or privacy is None or budgets is None:
        return None
    if previews is None or statements is None or accounting is None or fewest is None:
        return None
    if problems.found:
        return None
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Policy(
        *(database, source, privacy, tables, budgets, digest, accepted, previews, reuse),
        statements=statements,
        accounting=accounting,
        publish=tuple(replace(one, smallest=_smallest_groups(fewest, tables)) for one in published),
        units_about=units_about,
        min_units_per_group=fewest,
        approve_above=approve_above,
        text=text,
    )


def _smallest_groups(
    fewest: int, tables: Mapping[TableName, ProtectedTable | PublicTable]
) -> tuple[tuple[str, int], ...]:
    """What the policy says of them, of all tables and of single ones."""
    of_all = (("", fewest),) if fewest > 1 else ()
    of_tables = (
        (str(table.name), table.min_units_per_group)
        for table in tables.values()
        if isinstance(table, ProtectedTable) and table.min_units_per_group is not None
    )
    return (*of_all, *of_tables)


def _is_other_version(entry: Entry | None, problems: ProblemList) -> bool:
    version = None if entry is None else number(entry.value, "dpproxy", problems)
    if entry is None or version is None or version == VERSION:
        return False
    problems.add(
        entry.value.at,
        f"dpproxy: {decimal(version)} is a policy format that this version cannot read",
        f"it reads dpproxy: {VERSION}",
    )
    return True


def _source(node: Node, environment: Mapping[str, str], problems: ProblemList) -> str | None:
    """`${NAME}` is put in once: what a variable holds is not looked at again, nor ever shown."""
    written = text(node, "source", problems)
    if written is None:
        return None
    parts: list[str] = []
    end = 0
    complete = True
    for reference in _VARIABLE.finditer(written):
        name = reference.group(1)
        parts.append(written[end : reference.start()])
        end = reference.end()
        if not reference.group().endswith("}") or not _VARIABLE_NAME.fullmatch(name):
            hint = "write ${NAME}, the name of an environment variable in letters, digits and _"
            problems.add(node.at, "source holds a '${' that is not ${NAME}", hint)
            complete = False
        elif not environment.get(name):
            problems.add(
                node.at,
                f"the environment variable {quoted_text(name)} is not set",
                f"source needs it: export {name}=postgresql://...",
            )
            complete = False
        else:
            parts.append(environment[name])
    value = "".join([*parts, written[end:]])
    if complete and not value.isprintable():
        hint = "export the variable anew: it may end in a line break"
        problems.add(node.at, "source holds a character that cannot be printed", hint)
        return None
    return value if complete else None
