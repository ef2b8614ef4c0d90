"""Installs clients by name, in environments beside the project's: `python -m tests.clients.install`.
With names of environments it installs these alone.

What cannot be had is reported and left out; its tests skip. The folder is `.clients`, or what
DPPROXY_CLIENTS names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tests.clients.installed import FOLDER

# By environment: requirements of pip. What a wheel imports without declaring it is named, too.
_PYTHON = {
    "python": (
        "psycopg[binary]", "psycopg2-binary", "asyncpg", "pg8000", "SQLAlchemy[asyncio]", "greenlet",
        "pandas", "polars", "pyarrow", "adbc-driver-postgresql", "ibis-framework[postgres]",
        "packaging", "pyodbc", "pgcli",
    ),
    # dbt-core 1.11 and later fetch a parser from elsewhere while they are installed.
    "dbt": ("dbt-core<1.11", "dbt-postgres<1.11"),
    # Superset 6.1 does not start with newer caches.
    "superset": (
        "apache-superset==6.1.0", "psycopg2-binary", "flask-caching<2.4", "cachetools", "rich",
    ),
    "browser": ("selenium", "pillow"),
    "great_expectations": ("great_expectations", "SQLAlchemy", "psycopg2-binary"),
    "metricflow": ("dbt-metricflow", "dbt-core<1.11", "dbt-postgres<1.11"),
    # It needs an older typer than the project has.
    "openapi": ("openapi-python-client>=0.26",),
}  # fmt: skip
# By environment: packages of npm.
_NODE = {
    "node": (
        "pg", "pg-cursor", "pg-copy-streams", "postgres",
        # types and calls of our OpenAPI document; the former needs that compiler
        "openapi-typescript@7", "openapi-fetch@0.17", "typescript@5",
    ),
    "prisma": ("prisma@7", "@prisma/client@7", "@prisma/adapter-pg@7"),
    "sequelize": ("sequelize@6", "pg"),
}  # fmt: skip
_DEBIAN = (
    "postgresql-client", "pgbouncer", "odbc-postgresql", "unixodbc",
    "default-jre-headless", "libpostgresql-jdbc-java",
    "golang-go", "golang-github-lib-pq-dev", "golang-github-jackc-pgx-v4-dev",
    "r-base-core", "r-cran-dbi", "r-cran-dplyr", "r-cran-dbplyr", "r-cran-rpostgresql", "r-cran-jsonlite",
    "chromium", "chromium-driver", "fonts-dejavu-core",
)  # fmt: skip

_PROGRAMS = {"postgresql-client": "psql", "default-jre-headless": "java", "golang-go": "go"}


def main(names: Sequence[str]) -> None:
    if names:
        failed = [name for name in names if not _named(name)]
        print(f"could not be installed: {', '.join(failed)}" if failed else "", end="")
        return
    failed = [name for name in (*_PYTHON, *_NODE) if not _named(name)]
    failed += _debian()
    print(f"could not be installed: {', '.join(failed)}" if failed else "all clients are installed")


def _named(name: str) -> bool:
    return _of_node(name) if name in _NODE else _environment(name)


def _environment(name: str) -> bool:
    folder = FOLDER / name
    made = folder.exists() or _done(sys.executable, "-m", "venv", str(folder))
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    return made and _done(*pip, "--disable-pip-version-check", *_PYTHON[name])


def _of_node(name: str) -> bool:
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    install = ("npm", "install", "--silent", "--prefix", str(folder))
    return shutil.which("npm") is not None and _done(*install, *_NODE[name])


def _debian() -> list[str]:
    """One by one, since apt installs nothing where it does not know one of them."""
    if shutil.which("apt-get") is None or os.getuid() != 0:
        return ["Debian's packages (they need apt-get and root)"]
    _done("apt-get", "update", "-qq")
    install = ("apt-get", "install", "-y", "-qq", "--no-install-recommends")
    return [
        package for package in _DEBIAN if not _is_here(package) and not _done(*install, package)
    ]


def _is_here(package: str) -> bool:
    """The package, or the program that it is for by another one."""
    if shutil.which(_PROGRAMS.get(package, "")):
        return True
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    done = subprocess.run(query, capture_output=True, text=True, check=False)
    return done.stdout == "installed"


def _done(*command: str) -> bool:
    print(" ".join(command), flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return _code(command, environment) == 0


def _code(command: Sequence[str], environment: dict[str, str]) -> int:
    return subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, check=False
    ).returncode


if __name__ == "__main__":
    main(sys.argv[1:])
