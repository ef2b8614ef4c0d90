"""The design card of the project: folders, libraries and the HTTP interface that it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.http.routes import Routes
from proxy.servers.login_gate import LoginGate
from tests.imported_modules import modules_of, packages_of

_ROOT = Path(__file__).resolve().parents[1]


# Folders.


@pytest.mark.parametrize("name", ["proxy", "policies", "tests", "deploy"])
def test_a_folder_of_the_card_is_there(name: str) -> None:
    folder = _ROOT / name
    assert folder.is_dir()
    assert any(path.is_file() for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md"])
def test_a_file_of_the_card_is_there(name: str) -> None:
    assert (_ROOT / name).is_file()


def test_the_policies_are_six_or_more() -> None:
    assert len(list((_ROOT / "policies").glob("*/policy.yaml"))) >= 6


def test_policies_stand_in_that_folder_alone() -> None:
    """No second copy inside the package: a wheel gets them from the folder."""
    assert list((_ROOT / "proxy").rglob("*.yaml")) == []


# Libraries.

_LIBRARIES = ("sqlglot", "psycopg", "fastapi", "uvicorn", "numpy")


@pytest.mark.parametrize("library", _LIBRARIES)
def test_the_product_depends_on_the_library(library: str) -> None:
    text = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert re.search(rf'^  "{library}(\[[a-z,]+\])?[=>]', found[1], re.MULTILINE)


@pytest.mark.parametrize("library", _LIBRARIES)
def test_the_product_imports_the_library(library: str) -> None:
    assert [file for file in (_ROOT / "proxy").rglob("*.py") if library in packages_of(file)]


# The HTTP interface.


def _listeners() -> list[Any]:
    nothing = cast(Any, None)
    return [
        Routes({}, nothing, nothing, nothing, LoginGate()).app(),
        AdminRoutes("", nothing, nothing, nothing).app(),
    ]


@pytest.mark.parametrize("app", _listeners(), ids=["analysts", "administrators"])
def test_every_route_of_a_listener_is_fastapis(app: Any) -> None:
    assert isinstance(app, FastAPI)
    assert len(app.routes) > 10
    assert [route for route in app.routes if not isinstance(route, APIRoute)] == []
    assert app.user_middleware == []
    assert (app.docs_url, app.redoc_url, app.openapi_url, app.debug) == (None, None, None, False)


def test_no_module_makes_routes_of_another_framework() -> None:
    makers = {"starlette.routing", "starlette.applications"}
    found = [
        (file.name, module)
        for file in (_ROOT / "proxy").rglob("*.py")
        for module in modules_of(file) & makers
    ]
    assert found == []
