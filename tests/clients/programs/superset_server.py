"""A Superset of its own: metadata in SQLite in a folder, on a free port, gone when it is left."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_BIN = Path(os.environ["DP_CLIENTS"]) / "superset" / "bin"
_SETTINGS = """\
SECRET_KEY = {key!r}
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
TALISMAN_ENABLED = False
WTF_CSRF_ENABLED = False
FEATURE_FLAGS = {{"CHART_PLUGINS_EXPERIMENTAL": True}}
"""
NAME, PASSWORD = "admin", "admin"  # of a server that lives for one test, on this machine alone


class SupersetServer:
    def __init__(self, folder: Path) -> None:
        settings = folder / "superset_settings.py"
        settings.write_text(_SETTINGS.format(folder=folder, key=os.urandom(32).hex()))
        self._environment = {
            **os.environ,
            "SUPERSET_CONFIG_PATH": str(settings),
            "SUPERSET_HOME": str(folder),
            "HOME": str(folder),
            "FLASK_APP": "superset.app:create_app()",
        }
        for name in ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"):
            self._environment.pop(name)  # what it needs of these stands in its database's URI
        self._folder = folder
        self._token = ""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self._port = one.getsockname()[1]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def version(self) -> str:
        line = "import importlib.metadata as m; print(m.version('apache-superset'))"
        return subprocess.check_output([_BIN / "python", "-c", line], text=True).strip()

    def __enter__(self) -> SupersetServer:
        person = (
            "--username",
            NAME,
            "--firstname",
            "A",
            "--lastname",
            "B",
            "--email",
            "a@example.org",
        )
        self._run("db", "upgrade")
        self._run("fab", "create-admin", *person, "--password", PASSWORD)
        self._run("init")
        command = [str(_BIN / "superset"), "run", "-p", str(self._port), "--with-threads"]
        with (self._folder / "superset.log").open("wb") as log:
            self._process = subprocess.Popen(
                command, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self._sign_in()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _sign_in(self) -> None:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=60).close()
                break
            except OSError:
                time.sleep(0.5)
        given = {"username": NAME, "password": PASSWORD, "provider": "db", "refresh": False}
        self._token = self.call("POST", "/api/v1/security/login", given)["access_token"]

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [_BIN / "superset", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(self.address + path, method=method)
        request.add_header("Content-Type", "application/json")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data, timeout=120) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()[:600]}") from None
