"""The schema for editors: it takes what the reader takes, refuses misspelt keys, and lists no key by itself."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_schema import MODELINE, SCHEMA_FILE, policy_schema
from proxy.policy_file.policy_shapes import Either, Keyed, ListOf, NamedBy, Shape
from proxy.policy_file.policy_yaml import POLICY, read_policy
from proxy.policy_file.yaml_positions import Entry, MappingNode, SequenceNode, compose
from tests.policy.schema_judge import as_editors_read, complaints
from tests.policy.test_golden import ENVIRONMENT, GOLDEN
from tests.samples import ALL_SAMPLES

_ROOT = Path(__file__).parents[2]
_WRITTEN = _ROOT / "proxy" / "policy_file" / SCHEMA_FILE
_SAMPLES = [pytest.param(sample.policy_file, id=sample.name) for sample in ALL_SAMPLES]
_GOOD = [
    *(pytest.param(path, id=path.stem) for path in sorted((GOLDEN / "good").glob("*.yaml"))),
    *_SAMPLES,
]
_NAMED_BY_THE_OWNER = ("tables", "columns", "analysts", "groups", "unit", "join_keys")


def test_the_file_in_the_package_is_the_schema(bless: bool) -> None:
    text = json.dumps(policy_schema(), indent=2) + "\n"
    if bless:
        _WRITTEN.write_text(text, encoding="utf-8")
    assert _WRITTEN.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", _GOOD)
def test_it_takes_every_good_policy(path: Path) -> None:
    assert list(complaints(as_editors_read(path.read_text("utf-8")), policy_schema())) == []


def _keys(node: object, above: str = "") -> Iterator[Entry]:
    """Keys that the format knows, not names that the owner chose."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            yield from _keys(item, above)
    if isinstance(node, MappingNode):
        for entry in node.entries.values():
            if above not in _NAMED_BY_THE_OWNER:
                yield entry
            if entry.key == "accept" and isinstance(entry.value, MappingNode):
                yield from entry.value.entries.values()  # names of findings; places below them
                continue
            # Two steps down from `tables` a table's own keys begin.
            yield from _keys(entry.value, entry.key if above not in _NAMED_BY_THE_OWNER else "")


@pytest.mark.every(7)
@pytest.mark.parametrize("path", _GOOD)
def test_it_refuses_each_key_misspelt(path: Path) -> None:
    """As the reader does."""
    text = path.read_text("utf-8")
    root, _ = compose(text)
    lines, schema, tried = text.split("\n"), policy_schema(), 0
    for entry in _keys(root):
        line, column = entry.key_at.line - 1, entry.key_at.column - 1
        if not lines[line][column:].startswith(entry.key):
            continue  # in quotes
        wrong = list(lines)
        wrong[line] = f"{lines[line][:column]}{entry.key}x{lines[line][column + len(entry.key) :]}"
        misspelt = "\n".join(wrong)
        with pytest.raises(PolicyErrors):
            read_policy(misspelt, "", {**ENVIRONMENT, "CENSUS_DSN": "-"})
        assert list(complaints(as_editors_read(misspelt), schema)), (entry.key, entry.key_at)
        tried += 1
    assert tried >= 10


def keyed_shapes(shape: Shape) -> Iterator[Keyed]:
    match shape:
        case Keyed(keys=keys):
            yield shape
            for one in keys.values():
                yield from keyed_shapes(one)
        case NamedBy(of=of):
            yield from keyed_shapes(of)
        case Either(shapes=shapes):
            for one in shapes:
                yield from keyed_shapes(one)
        case ListOf(of=of):
            yield from keyed_shapes(of)
        case _:
            pass


def test_no_module_has_a_list_of_keys_beside_the_shapes() -> None:
    """Each shape that `fields` is given is a part of the policy: what is read is what the schema lists."""
    known = {tuple(shape.keys) for shape in keyed_shapes(POLICY)}
    import proxy.policy_file as package

    found = 0
    for file in Path(str(package.__file__)).parent.glob("policy_*.py"):
        module = __import__(f"proxy.policy_file.{file.stem}", fromlist=["_"])
        for name, shape in vars(module).items():
            if isinstance(shape, Keyed):
                found += 1
                assert tuple(shape.keys) in known, (file.stem, name)
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                calls = [call for call in ast.walk(function) if isinstance(call, ast.Call)]
                assert "Keyed" not in map(ast.unparse, (call.func for call in calls)), function.name
    assert found >= 12


def test_every_key_is_explained_to_editors() -> None:
    schema = policy_schema()
    tables = schema["properties"]["tables"]["additionalProperties"]["anyOf"]
    for properties in (schema["properties"], schema["properties"]["privacy"]["properties"]):
        assert all("description" in one for one in properties.values())
    assert all("description" in one for one in tables[2]["properties"].values())


@pytest.mark.parametrize("path", _SAMPLES)
def test_samples_name_the_schema(path: Path) -> None:
    first = path.read_text("utf-8").split("\n")[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None
    assert (path.parent / found[1]).resolve() == _WRITTEN.resolve()
    assert MODELINE.startswith("# yaml-language-server: $schema=")
