"""The codec: what is encoded, decodes; random bytes raise nothing but ProtocolError."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.pgwire import frames
from proxy.pgwire.frames import Bind, Parse, ProtocolError
from proxy.pgwire.session import json_in_ascii

names = st.binary(max_size=20).map(lambda name: name.replace(b"\0", b""))
oids = st.lists(st.integers(0, 2**32 - 1), max_size=5).map(tuple)
values = st.lists(st.none() | st.binary(max_size=30), max_size=6).map(tuple)
codes = st.integers(0, 1)


@given(names, names, oids)
def test_parse_decodes(name: bytes, text: bytes, parameter_oids: tuple[int, ...]) -> None:
    frame = frames.parse(name, text, parameter_oids)
    assert Parse.decode(frame[5:]) == Parse(name, text, parameter_oids)


@given(names, names, values, st.data())
def test_bind_decodes_and_takes_one_more(
    portal: bytes, statement: bytes, given_values: tuple[bytes | None, ...], data: st.DataObject
) -> None:
    count = data.draw(st.sampled_from([0, 1, len(given_values)]))
    formats = tuple(data.draw(codes) for _ in range(count))
    frame = frames.bind(portal, statement, given_values, formats, (1,))
    bind = Bind.decode(frame[5:])
    assert bind == Bind(portal, statement, formats, given_values, (1,))
    more = Bind.decode(bind.with_appended(b"{}")[5:])
    assert more.values == (*given_values, b"{}")
    assert more.result_formats == (1,)

    def format_of(message: Bind, number: int) -> int:
        """Manual 55.7: none means text, one is for all."""
        match len(message.formats):
            case 0:
                return 0
            case 1:
                return message.formats[0]
        return message.formats[number]

    assert format_of(more, len(given_values)) == 0
    for number in range(len(given_values)):
        assert format_of(more, number) == format_of(bind, number)


def test_bind_of_65535_parameters_decodes() -> None:
    many = tuple([b"x"] * 65_535)
    assert Bind.decode(frames.bind(b"", b"", many)[5:]).values == many


@given(st.lists(st.tuples(st.sampled_from([b"S", b"C", b"M", b"H"]), names)))
def test_report_decodes(fields: list[tuple[bytes, bytes]]) -> None:
    assert frames.decode_report(frames.encode_report(fields)) == fields


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "decode",
    [
        Parse.decode,
        Bind.decode,
        frames.decode_target,
        frames.decode_execute,
        frames.decode_report,
        frames.decode_row_description,
        frames.decode_data_row,
        frames.decode_parameter_description,
    ],
)
@given(payload=st.binary(max_size=60))
def test_random_bytes_raise_nothing_else(decode: Callable[[bytes], object], payload: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(payload)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_json_in_ascii_is_the_same_json(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate is no text that PostgreSQL could hold
    shown = json_in_ascii(text)
    assert shown.isascii()
    assert json.loads(shown) == value
