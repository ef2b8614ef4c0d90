"""Which clients are here, and how each is run. `python -m tests.clients.install` installs them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
_ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("DPPROXY_CLIENTS", _ROOT / ".clients"))
JARS = Path("/usr/share/java")
GO_PATH = Path("/usr/share/gocode")


class NotHere(Exception):
    """Why a client cannot be run on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """command: its program's; raises NotHere"""

    name: str
    command: Callable[[], list[str]]
    environment: Mapping[str, str] = field(default_factory=dict)


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise NotHere(f"there is no {name}")
    return found


def _exists(path: Path) -> Path:
    if not path.exists():
        raise NotHere(f"{path.name} is not installed")
    return path


def python_of(environment: str, *modules: str) -> str:
    """The interpreter of a virtual environment that has these modules."""
    interpreter = FOLDER / environment / "bin" / "python"
    if not interpreter.exists():
        raise NotHere(f"its environment {environment} is not installed")
    line = f"import {', '.join(modules)}"
    done = subprocess.run([interpreter, "-c", line], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(done.stderr.strip().splitlines()[-1])
    return str(interpreter)


def _python(file: str, *modules: str, environment: str = "python") -> Callable[[], list[str]]:
    return lambda: [python_of(environment, *modules), str(PROGRAMS / file)]


def _node(file: str, package: str, environment: str = "node") -> Callable[[], list[str]]:
    def command() -> list[str]:
        modules = FOLDER / environment / "node_modules"
        _exists(modules / package)
        return ["env", f"NODE_PATH={modules}", _program("node"), str(PROGRAMS / file)]

    return command


def _java() -> list[str]:
    jar = _exists(JARS / "postgresql.jar")
    return [_program("java"), "-cp", str(jar), str(PROGRAMS / "OfPgjdbc.java")]


def _go(file: str, package: str, debian: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        _exists(GO_PATH / "src" / "github.com" / package)
        version = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", debian],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.partition("-")[0]
        files = [str(PROGRAMS / "go" / name) for name in ("each_feature.go", file)]
        return ["env", f"DP_VERSION={package} {version}", _program("go"), "run", *files]

    return command


def _r() -> list[str]:
    command = _program("Rscript")
    line = "quit(status = !all(sapply(c('dbplyr', 'RPostgreSQL', 'jsonlite'), requireNamespace)))"
    done = subprocess.run([command, "-e", line], capture_output=True, check=False)
    if done.returncode:
        raise NotHere("R has no dbplyr, RPostgreSQL or jsonlite")
    return [command, str(PROGRAMS / "of_dbplyr.R")]


def _psql() -> list[str]:
    _program("psql")
    return [python_of("python", "json"), str(PROGRAMS / "of_psql.py")]


def _pgbouncer() -> list[str]:
    _program("pgbouncer")
    return [python_of("python", "psycopg"), str(PROGRAMS / "behind_pgbouncer.py")]


def _superset() -> list[str]:
    python_of("superset", "superset")
    _program("chromium")
    _program("chromedriver")
    return [python_of("browser", "selenium", "PIL"), str(PROGRAMS / "of_superset.py")]


_GO_ENVIRONMENT = {"GO111MODULE": "off", "GOPATH": str(GO_PATH), "GOFLAGS": ""}

CLIENTS = (
    Client(name="psql", command=_psql),
    Client(name="pgcli", command=_python("of_pgcli.py", "pgcli")),
    Client(name="psycopg 3", command=_python("of_psycopg3.py", "psycopg")),
    Client(name="psycopg2", command=_python("of_psycopg2.py", "psycopg2")),
    Client(name="asyncpg", command=_python("of_asyncpg.py", "asyncpg")),
    Client(name="pg8000", command=_python("of_pg8000.py", "pg8000")),
    Client(name="pgjdbc", command=_java),
    Client(name="node-postgres", command=_node("of_node_postgres.js", "pg")),
    Client(name="postgres.js", command=_node("of_postgres_js.js", "postgres")),
    Client(name="Prisma", command=_node("of_prisma.js", "prisma", "prisma")),
    Client(name="Sequelize", command=_node("of_sequelize.js", "sequelize", "sequelize")),
    Client(name="psqlODBC", command=_python("of_psqlodbc.py", "pyodbc")),
    Client(
        name="lib/pq",
        command=_go("of_pq.go", "lib/pq", "golang-github-lib-pq-dev"),
        environment=_GO_ENVIRONMENT,
    ),
    Client(
        name="pgx",
        command=_go("of_pgx.go", "jackc/pgx", "golang-github-jackc-pgx-v4-dev"),
        environment=_GO_ENVIRONMENT,
    ),
    *(
        Client(
            name=f"SQLAlchemy on {driver}",
            command=_python("of_sqlalchemy.py", "sqlalchemy", driver),
            environment={"DP_DRIVER": driver},
        )
        for driver in ("psycopg", "psycopg2", "asyncpg", "pg8000")
    ),
    Client(name="pandas", command=_python("of_pandas.py", "pandas", "sqlalchemy")),
    Client(name="polars", command=_python("of_polars.py", "polars", "adbc_driver_postgresql")),
    Client(name="ibis", command=_python("of_ibis.py", "ibis.backends.postgres")),
    Client(name="R with dbplyr", command=_r),
    Client(name="pgbouncer", command=_pgbouncer),
    Client(name="dbt", command=_python("of_dbt.py", "dbt.cli.main", environment="dbt")),
    Client(
        name="MetricFlow",
        command=_python("of_metricflow.py", "dbt_metricflow", environment="metricflow"),
    ),
    Client(
        name="Great Expectations",
        command=_python(
            "of_great_expectations.py", "great_expectations", environment="great_expectations"
        ),
    ),
    Client(name="Superset", command=_superset),
)
