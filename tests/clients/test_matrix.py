"""docs/reference/clients.md is what a run writes, of all clients and all features."""

from __future__ import annotations

from tests.clients.features import SECTIONS
from tests.clients.installed import CLIENTS
from tests.clients.matrix import Column, Matrix, Outcome, Result, read_matrix
from tests.clients.running import DOCUMENT, PICTURES, committed

_PICTURE = PICTURES / "superset.png"
_LARGEST = 300_000


def test_committed_matrix_is_as_written() -> None:
    assert committed().text() == DOCUMENT.read_text(encoding="utf-8")


def test_a_matrix_is_read_as_it_was_written() -> None:
    section = SECTIONS[0]
    outcomes = {feature.title: Outcome(result=Result.WORKS) for feature in section.features}
    outcomes["COUNT"] = Outcome(result=Result.FAILS, reason="gave COUNT, cancel: 7")
    outcomes["cancel"] = Outcome(result=Result.NOT_APPLICABLE, reason="has none")
    columns = {client: Column(version="1", outcomes=dict(outcomes)) for client in section.clients}
    matrix = Matrix(columns)
    assert read_matrix(matrix.text()).columns == columns
    assert read_matrix(Matrix().text()).columns == {}


def test_every_client_has_its_column() -> None:
    of_sections = [client for section in SECTIONS for client in section.clients]
    assert sorted(of_sections) == sorted(client.name for client in CLIENTS)
    matrix = committed()
    for section in SECTIONS:
        titles = [feature.title for feature in section.features]
        for client in section.clients:
            assert list(matrix.columns[client].outcomes) == titles, client


def test_picture_is_small() -> None:
    assert 10_000 < _PICTURE.stat().st_size < _LARGEST
