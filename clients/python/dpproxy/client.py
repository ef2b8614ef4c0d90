"""A connection to dpproxy's HTTP listener."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx

from dpproxy.answer import Answer
from dpproxy.errors import error_of
from dpproxy.plan import Plan

if TYPE_CHECKING:
    import pyarrow

_ARROW = "application/vnd.apache.arrow.stream"
_SECONDS = 180.0  # a statement may run 120 s on the protected server


def connect(
    url: str,
    *,
    database: str = "",
    user: str = "",
    password: str = "",
    token: str = "",
    timeout: float = _SECONDS,
    verify: bool | str = True,
) -> Client:
    """Make a client.

    Args:
        url: Of the HTTP listener, e.g. `https://dpproxy.example:8432`.
        database: That statements ask; may be left out if you can query one only.
        user, password: Of your PostgreSQL role.
        token: A bearer token, instead of both.
        timeout: Seconds to wait for an answer.
        verify: Whether certificates are checked, or a file of authorities to trust.

    Raises:
        ValueError: Neither a token nor a user is given, or both.
    """
    if bool(token) == bool(user):
        raise ValueError("give a token, or a user with a password")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http = httpx.Client(
        base_url=url,
        auth=httpx.BasicAuth(user, password) if user else None,
        headers=headers,
        timeout=timeout,
        verify=verify,
    )
    return Client(http, database)


class Client:
    """Asks one database. Statements are never sent twice by themselves, since each may be charged."""

    def __init__(self, http: httpx.Client, database: str = "") -> None:
        """
        Args:
            http: A client of httpx with address and credentials.
            database: That statements ask.
        """
        self._http = http
        self.database = database

    def query(
        self,
        sql: str,
        params: Sequence[Any] = (),
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        fresh: bool | None = None,
        mechanism: str | None = None,
        trial: bool | None = None,
        **more: Any,
    ) -> Answer:
        """Run a statement, and pay for it.

        Args:
            sql: One statement.
            params: Values of `$1`, `$2`, ...; dates and lists as PostgreSQL's text.
            epsilon, delta: What it may cost; the policy's, if left out.
            fresh: True: ask anew, where an earlier or published answer would serve.
            mechanism: Of AVG, MIN and MAX.
            trial: False: without a trial run before the charge.
            more: Members of the request that this version does not know.

        Raises:
            DpproxyError: The statement was refused, or the server cannot answer.
        """
        given = {
            **self._statement(sql, params),
            **_given(epsilon=epsilon, delta=delta, fresh=fresh, mechanism=mechanism),
            **_given(trial=trial, **more),
        }
        return Answer.read(self._post("/v1/query", given))

    def arrow(
        self,
        sql: str,
        params: Sequence[Any] = (),
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        fresh: bool | None = None,
        **more: Any,
    ) -> pyarrow.Table:
        """Run a statement as `query` does, and read its answer as an Arrow table. Needs pyarrow.

        Returns:
            Rows with a column `NAME_error` behind each noisy one: half of the width of its 95 % interval.
            What it cost and where it comes from is in the metadata of the schema: `dpproxy-epsilon`,
            `dpproxy-source`, `dpproxy-receipt`, ...

        Raises:
            ImportError: pyarrow is not installed. Nothing was asked.
            DpproxyError: As `query`.
        """
        import pyarrow.ipc

        given = {
            **self._statement(sql, params),
            **_given(epsilon=epsilon, delta=delta, fresh=fresh, **more),
            "error_columns": True,
        }
        response = self._send("/v1/query", given, _ARROW)
        if response.status_code >= 400:
            raise error_of(response)
        table = pyarrow.ipc.open_stream(response.content).read_all()
        told = {k: v for k, v in response.headers.items() if k.startswith("dpproxy-")}
        return table.replace_schema_metadata(told)

    def explain(
        self,
        sql: str,
        params: Sequence[Any] = (),
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        mechanism: str | None = None,
        **more: Any,
    ) -> Plan:
        """Get the price of a statement, and how exact it would be. Charges nothing."""
        given = {
            **self._statement(sql, params),
            **_given(epsilon=epsilon, delta=delta, mechanism=mechanism, **more),
        }
        return Plan.read(self._post("/v1/explain", given))

    def databases(self) -> list[str]:
        """Get the databases that you can query."""
        return list(self._get("/v1/databases")["databases"])

    def schema(self) -> list[dict[str, Any]]:
        """Get tables and columns, with bounds, values and uses."""
        return list(self._get("/v1/schema", self._in_database())["tables"])

    def budget(self) -> list[dict[str, Any]]:
        """Get the budgets that your statements are charged to, and what is left."""
        return list(self._get("/v1/budget", self._in_database())["budget"])

    def history(self) -> list[dict[str, Any]]:
        """Get your receipts, the latest first."""
        return list(self._get("/v1/history", self._in_database())["history"])

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _statement(self, sql: str, params: Sequence[Any]) -> dict[str, Any]:
        given: dict[str, Any] = {"sql": sql, "params": [_parameter(value) for value in params]}
        return {**given, **self._in_database()}

    def _in_database(self) -> dict[str, str]:
        return {"database": self.database} if self.database else {}

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = self._send(path, body, "application/json")
        return _read(response, is_exact=path == "/v1/query")

    def _send(self, path: str, body: Mapping[str, Any], accepted: str) -> httpx.Response:
        headers = {"Content-Type": "application/json", "Accept": accepted}
        return self._http.post(path, content=json.dumps(body).encode(), headers=headers)

    def _get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        return _read(self._http.get(path, params=params))


def _parameter(value: Any) -> Any:
    """Values that JSON has none for go as text, which PostgreSQL reads as the parameter's type."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _read(response: httpx.Response, *, is_exact: bool = False) -> dict[str, Any]:
    """is_exact: numbers with a point keep all of their digits."""
    if response.status_code >= 400:
        raise error_of(response)
    found = json.loads(response.content, parse_float=Decimal if is_exact else None)
    assert isinstance(found, dict)
    return found
