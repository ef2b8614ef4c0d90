"""The Python client against a served listener, every operation; and its wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import dpproxy
import pytest

from tests.live_proxy import sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD, servers

_PACKAGE = Path(__file__).parents[2] / "clients" / "python"


@pytest.fixture(scope="module")
def http() -> Iterator[BothListeners]:
    pair = servers()
    proxy = start_proxy(pair, sample_databases(pair))
    http = open_http(proxy)
    yield http
    http.close()
    proxy.stop()


@pytest.fixture
def db(http: BothListeners) -> Iterator[dpproxy.Client]:
    host, port = http.server.address
    url = f"http://{host}:{port}"
    with dpproxy.connect(url, user=http.analyst, password=PASSWORD, database="shop") as client:
        yield client


def test_a_price_and_then_an_answer(db: dpproxy.Client) -> None:
    sql = "SELECT status, count(*) AS n FROM shop.orders WHERE total > $1 GROUP BY status"
    plan = db.explain(sql, [20], epsilon=0.5)
    assert plan.epsilon == 0.5
    assert [(one.name, one.written) for one in plan.aggregates] == [("n", "count(*)")]
    answer = db.query(sql, [20], epsilon=0.5)
    assert answer.charge.epsilon == 0.5 and answer.charge.receipt
    assert {"paid", "shipped"} <= set(answer.column("status"))
    assert all(isinstance(n, int) for n in answer.column("n"))
    assert all(error is not None and error > 0 for error in answer.error("n"))
    receipts = [str(row["receipt"]) for row in db.history()]
    assert receipts[0] == answer.charge.receipt


def test_an_answer_as_an_arrow_table(db: dpproxy.Client) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    sql = "SELECT status, count(*) AS n FROM shop.orders WHERE total > $1 GROUP BY status"
    table = db.arrow(sql, [30], epsilon=0.5)
    assert table.column_names == ["status", "n", "n_error"]
    assert table.schema.metadata[b"dpproxy-epsilon"] == b"0.5"
    again = db.query(sql, [30], epsilon=0.5)
    assert sorted(table.to_pydict()["status"]) == sorted(again.column("status"))
    assert table.to_pydict()["n_error"] == again.error("n")


def test_what_else_can_be_asked(db: dpproxy.Client) -> None:
    assert "shop" in db.databases()
    assert "shop.orders" in {table["name"] for table in db.schema()}
    assert all("epsilon_spent" in line for line in db.budget())


def test_a_refusal_has_its_hint_and_costs_nothing(db: dpproxy.Client) -> None:
    before = db.history()
    with pytest.raises(dpproxy.Refused, match="HINT: Use aggregates") as caught:
        db.query("SELECT * FROM shop.orders")
    assert caught.value.sqlstate == "42501" and caught.value.position == 15
    assert db.history() == before


def test_members_of_later_servers_are_sent(db: dpproxy.Client) -> None:
    with pytest.raises(dpproxy.Refused, match="unknown key"):
        db.query("SELECT count(*) FROM shop.orders", not_yet=True)


def test_a_wrong_password_is_told(http: BothListeners) -> None:
    host, port = http.server.address
    wrong = dpproxy.connect(f"http://{host}:{port}", user=http.analyst, password="wrong")
    with wrong, pytest.raises(dpproxy.NotAllowed):
        wrong.databases()


@pytest.mark.long
def test_its_distribution_has_another_name_than_the_server(tmp_path: Path) -> None:
    shutil.copytree(_PACKAGE, tmp_path / "package")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    done = subprocess.run(
        [*build, str(tmp_path / "package")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("dpproxy_client-")
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        text = files.read(metadata).decode()
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"dpproxy"} and "dpproxy/py.typed" in names
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in needed if "extra" not in line] == ["Requires-Dist: httpx>=0.27"]
