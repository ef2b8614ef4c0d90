"""Each HTTP answer has a request id: ours, or the client's if it is fit for a log."""

from __future__ import annotations

import re

import pytest

from tests.servers.http.both_listeners import BothListeners


@pytest.mark.parametrize("path", ["/healthz", "/nothing", "/v1/databases"])
def test_an_answer_of_any_kind_has_one(listeners: BothListeners, path: str) -> None:
    ids = {listeners.client.get(path).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3 and all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)


@pytest.mark.parametrize("given", ["a", "4bf92f35-77b3", "Z" * 64])
def test_the_clients_own_is_taken(listeners: BothListeners, given: str) -> None:
    answer = listeners.client.get("/healthz", headers={"X-Request-Id": given})
    assert answer.headers.get_list("x-request-id") == [given]


@pytest.mark.parametrize("given", ["", "Z" * 65, "a b", 'a"b', "a_b", "a\tb", "é"])
def test_one_that_could_forge_a_line_is_not(listeners: BothListeners, given: str) -> None:
    answer = listeners.client.get("/healthz", headers={b"X-Request-Id": given.encode()})
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"])


def test_two_of_them_are_none(listeners: BothListeners) -> None:
    two = [("X-Request-Id", "first"), ("X-Request-Id", "second")]
    answer = listeners.client.get("/healthz", headers=two)
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"])
