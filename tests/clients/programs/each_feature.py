"""Runs the features of a client one after another and prints what came of each, one JSON object a line.

What a feature has to give stands in tests/clients/judging.py. This file and those beside it run in
environments of their own, without the project's.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

HOST = os.environ["PGHOST"]
PORT = int(os.environ["PGPORT"])
USER = os.environ["PGUSER"]
PASSWORD = os.environ["PGPASSWORD"]
DATABASE = os.environ["PGDATABASE"]
TLS_PORT = int(os.environ["DP_TLS_PORT"])  # of a listener that takes TLS only
CERTIFICATE = os.environ["DP_CERTIFICATE"]  # of localhost, signed by itself

_FILE = Path(__file__).with_name("statements.txt")
SQL = dict(line.split(" = ", 1) for line in _FILE.read_text(encoding="utf-8").splitlines())
MARKED = {name: text.replace("?", "%s") for name, text in SQL.items()}
NUMBERED = {name: text.replace("?", "$1") for name, text in SQL.items()}
NAMED = {name: text.replace("?", ":p") for name, text in SQL.items()}

GIVEN: dict[str, object] = {
    "int": 3,
    "text": "paid",
    "date": dt.date(1990, 1, 1),
    "timestamp": dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc),
    "list": ["paid", "shipped"],
    "null": None,
}


class NotApplicable(Exception):
    """The client has no such thing; the message says what it has."""


def run(version: str, features: dict[str, Callable[[], object]]) -> None:
    only = sys.argv[1:]
    print(json.dumps({"version": version}), flush=True)
    for name, feature in features.items():
        if only and name not in only:
            continue
        line: dict[str, object]
        try:
            line = {"value": feature()}
        except NotApplicable as reason:
            line = {"not_applicable": str(reason)}
        except AssertionError as error:
            line = {"error": str(error) or "not as expected"}
        except Exception as error:
            line = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"feature": name, **line}, default=str), flush=True)


def absent(reason: str) -> Callable[[], object]:
    def feature() -> object:
        raise NotApplicable(reason)

    return feature


def given(count: Callable[[str, object], object]) -> dict[str, Callable[[], object]]:
    """The features of a parameter of each type; count: by name of statement and value"""
    return {
        f"{name}_parameter": (lambda name=name, value=value: count(name, value))
        for name, value in GIVEN.items()
    }
