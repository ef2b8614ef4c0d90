"""Frames that a server sends, for tests that draw them in any order."""

from __future__ import annotations

from proxy.pgwire import frames

ROW = frames.frame(b"D", b"\0\1\0\0\0\x011")
READY = frames.frame(b"Z", b"I")
NOTICE = frames.frame(b"N", frames.encode_report([(b"S", b"NOTICE"), (b"M", b"m")]))
# One of each kind, but no error; of what is ready, outside and in a transaction that failed.
ONE_OF_EACH = (
    *(frames.frame(tag) for tag in (b"1", b"2", b"3", b"n", b"s", b"I", b"c")),
    frames.frame(b"t", b"\0\0"),
    frames.frame(b"T", b"\0\0"),
    ROW,
    frames.frame(b"C", b"DISCARD ALL\0"),
    frames.frame(b"S", b"client_encoding\0LATIN1\0"),
    NOTICE,
    frames.frame(b"A", b"\0\0\0\1c\0p\0"),
    frames.frame(b"G", b"\0\0\0"),
    frames.frame(b"H", b"\0\0\0"),
    frames.frame(b"d", b"row"),
    READY,
    frames.frame(b"Z", b"E"),
)
