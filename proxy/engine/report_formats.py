"""A policy report as Markdown, as an HTML page without scripts, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape

from proxy.engine.policy_report import PrivacyReport
from proxy.engine.report_sections import Section

_TITLE = "Privacy report"
_MARKS = re.compile(r"([\\`*\[\]|<>])")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{border:1px solid #888;padding:.3rem .5rem;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}"
)


def report_markdown(report: PrivacyReport) -> str:
    """Tables as GitHub and pandoc read them."""
    return "\n".join(_markdown(report))


def _markdown(report: PrivacyReport) -> Iterator[str]:
    yield f"# {_TITLE}: {_plain(report.head['database'])}"
    yield ""
    for name, value in report.head.items():
        yield f"- {name}: {_plain(value)}"
    for section in report.sections:
        yield ""
        yield f"## {section.title}"
        for sentence in section.text:
            yield ""
            yield _in_code(sentence)
        if section.heads:
            yield ""
            yield _row(section.heads)
            yield _row(["---"] * len(section.heads))
            yield from map(_row, section.rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    r"""
    >>> print(_plain("a|b <i> `c`"), _plain("two\nlines"))
    a\|b \<i\> \`c\` two lines
    """
    return " ".join(_escaped(text).split())


def _in_code(sentence: str) -> str:
    """Escape a sentence, but for what it shows as code.

    >>> print(_in_code("see `dp.clipped` of <a>"))
    see `dp.clipped` of \\<a\\>
    """
    parts = sentence.split("`")
    return "".join(f"`{part}`" if odd % 2 else _escaped(part) for odd, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def report_html(report: PrivacyReport) -> str:
    """One file, which loads nothing."""
    title = escape(f"{_TITLE}: {report.head['database']}")
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
            _html_table((), [*report.head.items()]),
            *(_html_section(section) for section in report.sections),
            "</body>\n</html>",
        )
    )


def _html_section(section: Section) -> str:
    text = "".join(f"<p>{escape(sentence).replace('`', '')}</p>\n" for sentence in section.text)
    table = _html_table(section.heads, section.rows) if section.heads else ""
    key = escape(section.key)
    return f'<section id="{key}">\n<h2>{escape(section.title)}</h2>\n{text}{table}</section>'


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    top = f"<thead><tr>{head}</tr></thead>\n" if heads else ""
    return f"<table>\n{top}<tbody>\n{body}</tbody>\n</table>\n"


def report_json(report: PrivacyReport) -> str:
    """Sections by their keys; a row is an object by the heads of its table."""
    sections = {
        section.key: {
            "title": section.title,
            "text": list(section.text),
            "rows": [dict(zip(section.heads, row, strict=True)) for row in section.rows],
        }
        for section in report.sections
    }
    more = {"sections": sections, "registry": report.registry, "label": report.label}
    return json.dumps({**report.head, **more}, indent=2)
