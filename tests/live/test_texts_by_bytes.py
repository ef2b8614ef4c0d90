"""A statement that orders texts is told that it is by bytes, before it is paid and with its answer."""

from __future__ import annotations

from tests.live_proxy import LiveProxy


def test_a_notice_and_explain_say_so(live: LiveProxy) -> None:
    text = b"SELECT count(*) FROM census.adult WHERE education < 'M'"
    line = "education is compared by bytes: 'Z' comes before 'a'"
    with live.connect("census", analyst=live.servers.new_analyst()) as connection:
        heard: list[str] = []
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        explained = [row[0] for row in connection.execute(b"EXPLAIN " + text)]
        connection.execute(text)
    assert line in explained
    assert any(line in one for one in heard)
