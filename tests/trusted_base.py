"""What a privacy reviewer has to read: the closure of imports of what guards the data, less what is excused.

The closure begins at `ROOTS` and at the commands that hold the protected database or randomness. It follows
every import, also inside functions and under TYPE_CHECKING. It does not follow what is excused: whatever an
excused module answers has to be harmless, and so is whatever that answer was made with.

`tests/test_trusted_base.py` compares it with `PARTS` and `ALLOWED`, and writes the table of SECURITY.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A row of the table.

    Attributes:
        decides: What is wrong where it is wrong.
        names: Of modules and packages. A package is all of it, but for what is excused by its own name.
    """

    decides: str
    names: tuple[str, ...]


def _within(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"proxy.{package}.{name}" for name in names.split())


ROOTS: tuple[str, ...] = (
    "proxy.kernel",
    "proxy.mechanisms",
    "proxy.compiler",
    "proxy.exact",
    "proxy.drawing",
    *_within("release", "adding_noise choosing_bounds proposing_bounds deviation_means"),
    *_within("engine", "questions_of_answers releasing"),
    "proxy.protected",
    *_within("ledger", "engine_ledger published_releases bounds_account ledger_home"),
    "proxy.policy_file.policy_yaml",
)
# Who imports one of these in `cli` puts it into an engine.
HANDED_IN_BY_COMMANDS = (
    ("proxy.engine.os_random", "OsRandom"),
    ("proxy.protected.protected_database", "ProtectedDatabase"),
)

# In the order of reading.
PARTS: Mapping[str, Part] = {
    "plan": Part(
        decides="what a plan can say: expressions, relations, types",
        names=(
            "proxy.query.ir",
            "proxy.query.syntax.placeholders",
            "proxy.base",
        ),
    ),
    "kernel": Part(
        decides="whose rows, sensitivity and price of every plan, and that no row makes it raise",
        names=("proxy.kernel",),
    ),
    "mechanisms": Part(decides="noise, selection, composition", names=("proxy.mechanisms",)),
    "release": Part(
        decides="exact results to noisy ones",
        names=(
            "proxy.exact",
            *_within(
                "release",
                "adding_noise choosing_bounds proposing_bounds deviation_means ordering drawn_values",
            ),
        ),
    ),
    "order of charges": Part(
        decides="charge, query, release; who is shown a kept answer",
        names=(
            "proxy.drawing",
            "proxy.turns",  # runs in threads what is given exact rows, and hands on what comes of them
            *_within("engine", "questions_of_answers releasing published_ports os_random"),
        ),
    ),
    "ledger": Part(
        decides="the decision of a charge and its durability",
        names=(
            "proxy.accounting",
            *_within(
                "ledger",
                "engine_ledger ledger_tables cached_claims charge_queue charge_statements"
                " published_releases bounds_account ledger_schema ledger_sources"
                " ledger_lease"
                " ledger_mark ledger_home text_cipher",
            ),
        ),
    ),
    "protected database": Part(
        decides="what is read of it, and what is believed of its catalogue",
        names=(
            "proxy.protected",
            "proxy.catalog",
            *_within("ledger", "noted_columns"),
        ),
    ),
    "policy": Part(
        decides="that the policy in force is the one that the owner wrote",
        names=(
            "proxy.policy_file",
            *_within("policy", "policy_model blocks_of_time grid public_labels"),
            "proxy.policy.publication",
        ),
    ),
    "wiring": Part(
        decides="which policy, ledger, database and randomness an engine gets",
        names=_within(
            "cli",
            "assembly held_budgets checked_ledger loading judging_rows audit",
        ),
    ),
    "compiler": Part(decides="the SQL that runs on the data", names=("proxy.compiler",)),
}

_WORDS = "words, and errors that are computed of public and of drawn numbers"
_DRAWN = "is computed from what is drawn, the plan and public numbers: post-processing"
_OWNER = (
    "tells the owner what looks wrong, and in which terms columns are written; what the owner says is taken as"
    " public"
)
_DRAWER = (
    "draws through the Drawer and shows through kept_answers: it makes no charge and no statement, says of no"
    " answer who was shown it (CAPABILITIES), and gets no exact row"
)
_FLOW = "when a statement runs and what is refused before it is planned; it sees no row"


def _excused(reason: str, names: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(names, reason)


ALLOWED: Mapping[str, str] = {
    **_excused(
        _WORDS,
        [
            *_within("cli", "findings_report cli_error explain_command progress"),
            "proxy.ledger.budget_warnings",
            "proxy.accounting.refusal",
        ],
    ),
    **_excused(
        _DRAWN,
        [
            *_within("release", "cached_block presenting"),
            "proxy.reuse",
        ],
    ),
    **_excused(
        _DRAWER,
        _within(
            "engine",
            "noisy_answers publishing query_pipeline remembered_plans cached_answers",
        ),
    ),
    "proxy.planner": "chooses what is computed, of which public labels, at what share of the price: it has"
    " no row, and the kernel judges what it makes",
    **_excused(
        _FLOW,
        _within("engine", "machine_clock policy_statements"),
    ),
    "proxy.engine.own_status": "the row of dp.status: numbers of one analyst's own sessions; it sees no row",
    **_excused(
        "what administrators did, and what reports are compared with: no part of the guarantee of an answer",
        _within("ledger", "admin_log"),
    ),
    **_excused(
        _OWNER,
        [
            "proxy.doctor",
            *_within("policy", "check findings finding_names missing_grants policy_decimals"),
        ],
    ),
    "proxy.shadow": "holds no protected row: it gets noisy relations, and what JudgedRows.copied gives",
    "proxy.postgres": "runs the servers of the shadow and of the ledger, which are trusted as programs",
    "proxy.audit": "a test of all this, on databases that it makes itself",
    **_excused(
        "the question as it was read, and what it shows of drawn numbers: a plan has of it fields into which no"
        " file of the table looks (kernel.well_formed.SHOWN)",
        _within("query.ir", "noisy_expressions query"),
    ),
    "proxy.base.errors": "texts of errors",
    "proxy.base.result_columns": "names of columns",
}


def module_files() -> dict[str, Path]:
    """Every module of the package, by its name."""
    found = {}
    for file in sorted((ROOT / "proxy").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES: Mapping[str, Path] = module_files()


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(module)))


def names_imported_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """What is imported anywhere in a text: a module, and a name in it (or nothing)."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from ((node.module or "", one.name) for one in node.names)


@cache
def imported_names(module: str) -> tuple[tuple[str, str], ...]:
    return tuple(names_imported_in(nodes_of(module)))


@cache
def imports_of(module: str) -> frozenset[str]:
    """The modules of the package that a module imports."""
    found = set()
    for name, member in imported_names(module):
        whole = f"{name}.{member}"
        found.add(whole if whole in MODULES else name)
    return frozenset(found & MODULES.keys())


@cache
def imports() -> Mapping[str, frozenset[str]]:
    return {module: imports_of(module) for module in MODULES}


@cache
def members(name: str) -> list[str]:
    """The modules of a package, or the module."""
    return [one for one in MODULES if one == name or one.startswith(f"{name}.")]


def wiring() -> list[str]:
    """The commands that put the protected database or randomness into an engine."""
    return [
        module
        for module in members("proxy.cli")
        if not set(HANDED_IN_BY_COMMANDS).isdisjoint(imported_names(module))
    ]


def _up(module: str) -> Iterator[str]:
    """The module, and the packages that it is in, from the inmost on."""
    while module:
        yield module
        module = module.rpartition(".")[0]


@dataclass(frozen=True, kw_only=True)
class Base:
    """The trusted base as it is declared, against the imports as they are.

    Attributes:
        parts: As of `PARTS`.
        allowed: As of `ALLOWED`.
        imports: By module.
    """

    parts: Mapping[str, Part]
    allowed: Mapping[str, str]
    imports: Mapping[str, frozenset[str]]

    @cached_property
    def _listed(self) -> Mapping[str, str]:
        return {name: part for part, one in self.parts.items() for name in one.names}

    def part_of(self, module: str) -> str | None:
        """The part that lists a module. The more exact name decides between a part and an excuse."""
        for name in _up(module):
            if name in self._listed:
                return self._listed[name]
            if name in self.allowed:
                return None
        return None

    def is_excused(self, module: str) -> bool:
        return self.part_of(module) is None and any(one in self.allowed for one in _up(module))

    @cached_property
    def closure(self) -> frozenset[str]:
        """All that is imported from the roots on, but behind what is excused."""
        waiting = [*(one for root in ROOTS for one in members(root)), *wiring()]
        found: set[str] = set()
        while waiting:
            module = waiting.pop()
            if module not in found and not self.is_excused(module):
                found.add(module)
                waiting += self.imports[module]
        return frozenset(found)

    def unlisted(self) -> list[str]:
        """Modules of the closure that are neither listed nor excused."""
        return sorted(one for one in self.closure if self.part_of(one) is None)

    def unreached(self) -> list[str]:
        """Names in the table of which nothing of the closure imports anything."""
        names = (name for part in self.parts.values() for name in part.names)
        return sorted(name for name in names if self.closure.isdisjoint(members(name)))

    def unused(self) -> list[str]:
        """Excuses that nothing of the closure needs, and names that are no module."""
        met = {one for module in self.closure for one in self.imports[module]}
        met |= {one for root in ROOTS for one in members(root)}
        return sorted(
            name
            for name in self.allowed
            if not any(self.is_excused(one) for one in met.intersection(members(name)))
        )

    def unlisted_with_rows(self) -> list[str]:
        """Modules that are not listed, and have exact rows, what reads them, randomness or a capability."""
        return [
            one
            for one in MODULES
            if self.part_of(one) is None and (reads_rows(one) or makes_capability(one))
        ]

    def modules_of(self, part: str) -> list[str]:
        """What is to be read of a part."""
        return [one for one in MODULES if one in self.closure and self.part_of(one) == part]


def sql_files(module: str) -> list[Path]:
    """The SQL that a module reads: files that its text names, and those of the folder of its name."""
    file = MODULES[module]
    if file.name == "__init__.py":
        return []
    texts = {node.value for node in nodes_of(module) if isinstance(node, ast.Constant)}
    beside = [
        one
        for one in sorted(file.parent.glob("*.sql"))
        if one.name in texts or (".sql" in texts and one.stem == file.stem)
    ]
    return [*beside, *sorted(file.with_suffix("").rglob("*.sql"))]


# Where exact rows, the protected database and randomness come from.
_SOURCES_OF_ROWS = frozenset(
    {
        ("proxy.protected.protected_database", "ProtectedDatabase"),
        ("proxy.engine.os_random", "OsRandom"),
    }
)
# Who may have these, and is excused: the audit makes its own rows.
_OF_OTHER_ROWS = "proxy.audit"


@cache
def reads_rows(module: str) -> bool:
    """Whether a module imports exact rows, or what reads them, or randomness."""
    if module.startswith(f"{_OF_OTHER_ROWS}."):
        return False
    return any(
        name.startswith("proxy.exact") or (name, member) in _SOURCES_OF_ROWS
        for name, member in imported_names(module)
    )


# What makes a capability, and the modules that may import it: nobody else charges, or says that somebody did.
CAPABILITIES: Mapping[tuple[str, str], frozenset[str]] = {
    ("proxy.compiler.backend_query", "public_list"): frozenset(
        _within("compiler", "binds other_values")
    ),
    ("proxy.drawing.charges", "charge_in_ledger"): frozenset(
        _within("ledger", "engine_ledger published_releases")
    ),
    ("proxy.drawing.charges", "uncharged"): frozenset({"proxy.audit.uncharged_reads"}),
    ("proxy.drawing.answer_slots", "shown_answer"): frozenset({"proxy.ledger.cached_claims"}),
    ("proxy.drawing.answer_slots", "question_given"): frozenset(
        {"proxy.engine.questions_of_answers"}
    ),
}
_OF_CAPABILITIES = frozenset(module for module, _ in CAPABILITIES)


@cache
def makes_capability(module: str) -> bool:
    """Whether a module imports what makes a capability, or all of a module that has such."""
    if module.startswith(f"{_OF_OTHER_ROWS}."):
        return False
    names = imported_names(module)
    return any(one in CAPABILITIES or f"{one[0]}.{one[1]}" in _OF_CAPABILITIES for one in names)


def lines_of(modules: Iterable[str]) -> int:
    files = [file for one in modules for file in (MODULES[one], *sql_files(one))]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


BEGIN, END = "<!-- trusted base: generated -->", "<!-- trusted base: end -->"


def table_of(base: Base) -> str:
    """The table of SECURITY.md, with the files of each part and their lines."""
    counted = {part: lines_of(base.modules_of(part)) for part in base.parts}
    rows = [
        f"| {part} | {one.decides} | {_files_of(base.modules_of(part))} | {counted[part]:,} |"
        for part, one in base.parts.items()
    ]
    head = ["| part | what it decides | files | lines |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, f"| all | | | {sum(counted.values()):,} |"])


def _files_of(modules: Iterable[str]) -> str:
    """Whole packages by their name, others with the names of their files."""
    by_package: dict[str, list[str]] = {}
    for module in modules:
        package, _, name = module.rpartition(".")
        if MODULES[module].name != "__init__.py":
            by_package.setdefault(package, []).append(name)
    return "; ".join(_package_text(one, names) for one, names in by_package.items())


def _package_text(package: str, names: list[str]) -> str:
    folder = f"`{package.replace('.', '/')}/`"
    whole = {one.rpartition(".")[2] for one in members(package) if one != package}
    return folder if set(names) == whole else f"{folder}: {', '.join(names)}"
