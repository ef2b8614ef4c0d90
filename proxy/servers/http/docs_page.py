"""/docs as one page that loads nothing from elsewhere: it works offline, and under a strict policy."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;padding:0 1rem}"
    "pre{background:#f3f3f3;padding:.7rem;overflow:auto}code{font-size:.95em}h2{margin-top:2rem}"
    "td{padding:.1rem 1rem .1rem 0;vertical-align:top}"
)
_NOTES = """\
<p>Log in with HTTP Basic: the name and password of your PostgreSQL role. A request is one statement in a
transaction of its own; nothing outlives it. Results come as JSON, or as CSV with
<code>Accept: text/csv</code>; the privacy part is then in the headers <code>DPProxy-Epsilon</code>,
<code>DPProxy-Delta</code>, <code>DPProxy-Remaining-Epsilon</code>, <code>DPProxy-Remaining-Delta</code>,
<code>DPProxy-Receipt</code>.</p>
<p>Errors are <code>application/problem+json</code> with <code>sqlstate</code>, <code>detail</code> (the
message), <code>hint</code> and <code>position</code>, the same as a PostgreSQL client gets.</p>
<p>The machine-readable description is <a href="/openapi.json">/openapi.json</a>.</p>"""


def docs_page(document: Mapping[str, Any]) -> str:
    """
    Given    the OpenAPI document of the application
    """
    sections = [
        _section(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    title = html.escape(str(document["info"]["title"]))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style><h1>{title}</h1>"
        f"<p>{html.escape(str(document['info']['description']))}</p>{_NOTES}{''.join(sections)}</html>"
    )


def _section(method: str, path: str, operation: Mapping[str, Any]) -> str:
    heading = f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
    text = f"<p>{html.escape(str(operation.get('summary', '')))}</p>"
    secured = bool(operation.get("security"))
    login = "-u NAME:PASSWORD " if secured else ""
    address = f"http://127.0.0.1:8432{path}"
    if "requestBody" not in operation:
        query = "?database=shop" if path in ("/v1/schema", "/v1/budget", "/v1/history") else ""
        return heading + text + f"<pre>curl {login}{html.escape(address + query)}</pre>"
    content = operation["requestBody"]["content"]["application/json"]
    rows = "".join(
        f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(str(one.get('description', '')))}"
        "</td></tr>"
        for name, one in content["schema"]["properties"].items()
    )
    body = html.escape(json.dumps(content["example"]))
    call = (
        f"<pre>curl {login}{html.escape(address)} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d '{body}'</pre>"
    )
    return heading + text + f"<table>{rows}</table>" + call
