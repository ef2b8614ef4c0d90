"""deploy/kubernetes: objects that the schemas of clusters know, nothing root, probes and options that exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from proxy.policy_file.policy_yaml import read_policy
from proxy.servers.draining import Draining
from proxy.servers.http.routes import Routes
from proxy.servers.login_gate import LoginGate
from tests.deploy.files import DEPLOY, accepted, final_stage

_FOLDER = DEPLOY / "kubernetes"
_LIST = yaml.safe_load((_FOLDER / "kustomization.yaml").read_text())
_OBJECTS: dict[str, Any] = {
    name: yaml.safe_load((_FOLDER / name).read_text()) for name in _LIST["resources"]
}
_POD = _OBJECTS["deployment.yaml"]["spec"]["template"]["spec"]
_EVERY = [*_POD["initContainers"], *_POD["containers"]]
_SERVED = _POD["containers"][0]


def test_all_files_are_listed() -> None:
    others = {"kustomization.yaml", "policy.yaml"}
    assert {one.name for one in _FOLDER.iterdir()} - others == _OBJECTS.keys()


@pytest.mark.parametrize("name", _OBJECTS)
@pytest.mark.parametrize("version", ["1.31", "1.34"])
def test_the_clusters_schemas_know_each_object(name: str, version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(_OBJECTS[name], version, strict=True)


def test_a_misspelt_key_is_found() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    wrong = yaml.safe_load((_FOLDER / "deployment.yaml").read_text())
    wrong["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, "1.34", strict=True)


@pytest.mark.parametrize("container", _EVERY, ids=lambda one: one["name"])
def test_nothing_is_root_or_writes_where_it_should_not(container: Any) -> None:
    user = next(one for one in final_stage() if one.word == "USER").rest
    assert _POD["securityContext"]["runAsNonRoot"] is True
    assert f"{_POD['securityContext']['runAsUser']}:{_POD['securityContext']['runAsGroup']}" == user
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted <= {one["name"] for one in _POD["volumes"]}


def test_the_command_is_accepted_and_its_files_are_mounted() -> None:
    options = accepted(_SERVED["args"])
    assert options["listen"] == "0.0.0.0:6432" and options["http"] == "0.0.0.0:8432"
    folders = {one["mountPath"] for one in _SERVED["volumeMounts"]}
    for given in (*options["policy"], options["tls_cert"], options["tls_key"]):
        assert str(Path(given).parent) in folders
    assert str(options["state"]) in folders


def test_probes_ask_routes_that_there_are() -> None:
    nothing = cast(Any, None)
    app = Routes({}, nothing, nothing, nothing, LoginGate()).app()
    routes = {cast(Any, route).path for route in app.routes}
    ports = {one["name"] for one in _SERVED["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = _SERVED[probe]["httpGet"]
        assert asked["path"] in routes and asked["port"] in ports and asked["scheme"] == "HTTPS"


def test_it_waits_for_the_drain() -> None:
    grace, delay = accepted(["serve", "--policy=x"])["grace"], 5
    assert _POD["terminationGracePeriodSeconds"] == delay + grace + 30
    assert Draining().delay == 0


def test_secrets_are_named_as_the_steps_make_them() -> None:
    steps = (DEPLOY / "README.md").read_text()
    named = {one["secret"]["secretName"] for one in _POD["volumes"] if "secret" in one}
    named |= {one["valueFrom"]["secretKeyRef"]["name"] for one in _SERVED["env"]}
    for name in named:
        assert f" {name} " in steps, name


def test_the_policy_is_one() -> None:
    text = (_FOLDER / "policy.yaml").read_text()
    assert read_policy(text, "policy.yaml", {"SHOP_DSN": "dbname=shop"}).database == "shop"
    (generated,) = _LIST["configMapGenerator"]
    names = {one["configMap"]["name"] for one in _POD["volumes"] if "configMap" in one}
    assert names == {generated["name"]}
