"""Tables of the reference, made from the code that they are about."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, cast

import dpproxy
import typer

from docs.site.log_events import MEANINGS, MORE_FIELDS, log_events
from proxy.base.errors import Code
from proxy.base.session_settings import DP_SETTINGS
from proxy.cli.main import command_line
from proxy.mechanisms import discrete_laplace
from proxy.policy.finding_names import FindingName
from proxy.policy_file.policy_schema import policy_schema
from proxy.query.bind.function_forms import FORMS
from proxy.query.syntax.selects import ANSWERED
from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.http.routes import Routes
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import FAMILIES


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _code(*texts: str) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def aggregates() -> str:
    return _code(*sorted(ANSWERED))


def functions() -> str:
    forms = sorted(FORMS.values(), key=lambda form: form.name)
    return _table(
        ("function", "written", "of"),
        ((_code(form.name), _code(*form.written), form.of) for form in forms),
    )


def settings() -> str:
    return _table(
        ("setting", "meaning"), ((_code(name), text) for name, text in DP_SETTINGS.items())
    )


def errors() -> str:
    return _table(
        ("code", "SQLSTATE", "HTTP", "when, and what to do"),
        (
            (_code(code.name), code.sqlstate, str(code.http_status), code.meaning)
            for code in sorted(Code, key=lambda code: (code.sqlstate, code.name))
        ),
    )


def odds() -> str:
    """What an epsilon means: odds about a person, and the error of a COUNT of people."""
    rows = []
    for text in ("0.1", "0.25", "0.5", "1", "2", "4", "10", "20"):
        factor = math.exp(float(text))
        after = [factor * before / (1 - before + factor * before) for before in (0.01, 0.1, 0.5)]
        width = discrete_laplace.half_width(1 / Fraction(text))
        told = [f"{100 * share:.1f} %" if share < 0.999 else "above 99.9 %" for share in after]
        rows.append(
            (text, f"{factor:,.3g}" if factor < 1000 else f"{factor:,.0f}", *told, f"±{width}")
        )
    heads = (
        "epsilon",
        "odds change by at most",
        "1 % becomes",
        "10 %",
        "50 %",
        "COUNT of people, 95 %",
    )
    return _table(heads, iter(rows))


def policy_keys() -> str:
    """Each key of a policy with what it takes, from the JSON Schema of policy files."""
    found: dict[str, list[str]] = {}
    for key, takes in _keys(policy_schema(), ""):
        if takes and takes not in found.setdefault(key, []):
            found[key].append(takes)
    return _table(
        ("key", "takes"),
        ((_code(key), " or ".join(takes)) for key, takes in found.items() if takes),
    )


def _keys(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if path:
        yield path, _takes(schema)
    inside = f"{path}." if path else ""
    for one in schema.get("anyOf", ()):
        yield from _keys(one, path)
    names = schema.get("properties", {})
    if set(names) <= set(FindingName.__members__) and names:
        names = {"FINDING": next(iter(names.values()))}
    for name, of in names.items():
        yield from _keys(of, f"{inside}{name}")
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        yield from _keys(more, f"{inside}NAME")
    if isinstance(schema.get("items"), dict) and schema["items"].get("properties"):
        yield from _keys(schema["items"], path)


def _takes(schema: Mapping[str, Any]) -> str:
    """In words; nothing of what only holds other keys."""
    if "anyOf" in schema:
        return ""
    if "enum" in schema:
        return _code(*(str(one) for one in schema["enum"] if not isinstance(one, bool)))
    kind = schema.get("type")
    if kind in ("number", "integer"):
        least, most = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
        if least is not None and least == most:
            return _code(f"{least:g}")
        words = "a whole number" if kind == "integer" else "a number"
        ends = [f"from {least:g}"] if least is not None else []
        ends += (
            [f"{'below' if 'exclusiveMaximum' in schema else 'to'} {most:g}"]
            if most is not None
            else []
        )
        return " ".join((words, *ends))
    if kind == "array":
        size = schema.get("minItems") == schema.get("maxItems") == 2
        return "`[low, high]`" if size else "a list"
    if kind == "object":
        return ""
    return f"a text like {_code(schema['pattern'][4:-2])}" if "pattern" in schema else "a text"


def metrics() -> str:
    return _table(
        ("metric", "labels", "what it tells"),
        ((_code(name), _code(*family.labels), family.text) for name, family in FAMILIES.items()),
    )


def events() -> str:
    return _table(
        ("event", "level", "fields", "what it tells"),
        (
            (
                _code(name),
                ", ".join(one.levels),
                _code(*dict.fromkeys((*one.fields, *MORE_FIELDS.get(name, ())))),
                MEANINGS[name],
            )
            for name, one in log_events().items()
        ),
    )


def commands() -> str:
    """Every command with its arguments and options, as the parser has them."""
    return "\n\n".join(_commands(typer.main.get_command(command_line()), "dpproxy"))


def _commands(command: Any, path: str) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if not below or command.params:
        yield _command(command, path)
    for name, one in below.items():
        yield from _commands(one, f"{path} {name}")


def _command(command: Any, path: str) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    words = [one.name.upper() if one.required else f"[{one.name.upper()}]" for one in arguments]
    parts = [f"## {path}", f"    {' '.join((path, *words, *(['[OPTIONS]'] * bool(options))))}"]
    if command.help:
        parts.append(_cell(command.help))
    told = [(_code(one.name.upper()), _help(one), "") for one in arguments if _help(one)]
    told += [(_option(one), _help(one), _default(one)) for one in options]
    if told:
        parts.append(_table(("option", "meaning", "default"), iter(told)))
    return "\n\n".join(parts)


def _option(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or option.display_type(None).strip('<>')}"
    return _code(*(f"{name}{value}" for name in (*option.opts, *option.secondary_opts)))


def _help(parameter: Any) -> str:
    text = str(getattr(parameter, "help", None) or "")
    variable = getattr(parameter, "envvar", None)
    return f"{text} Environment: `{variable}`." if variable else text


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return option.show_default
    match option.default:
        case None | False:
            return ""
        case Enum() as chosen:
            return _code(str(chosen.value))
        case value:
            return _code(str(value))


def operations() -> str:
    nothing = cast(Any, None)
    return _operations(Routes({}, nothing, nothing, nothing, LoginGate()).app().openapi())


def admin_operations() -> str:
    nothing = cast(Any, None)
    return _operations(AdminRoutes("", nothing, nothing, LoginGate()).app().openapi())


_OF_EVERY_OPERATION = {"200", "400", "401", "421", "500", "503"}


def _operations(document: Mapping[str, Any]) -> str:
    return _table(
        ("operation", "what it does", "fields", "other statuses"),
        (
            (
                _code(f"{method.upper()} {path}"),
                operation.get("summary", ""),
                _code(*_fields(document, operation)) if _fields(document, operation) else "",
                ", ".join(sorted(operation["responses"].keys() - _OF_EVERY_OPERATION)),
            )
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ),
    )


def _fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str]:
    """What a request may hold: members of its body, and parameters."""
    names = [str(one["name"]) for one in operation.get("parameters", ())]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        schema = media["schema"]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        names += schema.get("properties", {})
    return names


def python_client() -> str:
    """What the Python client has: classes with their attributes, methods with the first line of their text."""
    parts = []
    for name in dpproxy.__all__:
        thing = getattr(dpproxy, name)
        text = inspect.getdoc(thing) or ""
        if inspect.isfunction(thing):
            parts.append(f"**`dpproxy.{name}{_signature(thing)}`** {_first(text)}")
            continue
        if issubclass(thing, Exception):
            continue  # the page has them
        parts.append(f"**`dpproxy.{name}`** {_first(text)}")
        attributes = re.findall(r"^    ([\w, ]+): (.*)$", text, re.MULTILINE)
        methods = inspect.getmembers(thing, inspect.isroutine)
        rows = [(_code(*names.split(", ")), told) for names, told in attributes]
        rows += [
            (_code(f"{method}{_signature(function)}"), _first(inspect.getdoc(function) or ""))
            for method, function in methods
            if not method.startswith("_") and method != "read"
        ]
        parts.append(_table(("name", "meaning"), iter(rows)))
    return "\n\n".join(parts)


def _signature(function: Callable[..., Any]) -> str:
    """Without types: they are in the package."""
    found = inspect.signature(function)
    plain = [
        one.replace(annotation=one.empty) for one in found.parameters.values() if one.name != "self"
    ]
    return str(inspect.Signature(plain))


def _first(text: str) -> str:
    return text.split("\n\n", 1)[0]


TABLES: Mapping[str, Callable[[], str]] = {
    table.__name__: table
    for table in (
        *(aggregates, functions, settings, errors, odds, policy_keys, metrics, events),
        *(commands, operations, admin_operations, python_client),
    )
}
