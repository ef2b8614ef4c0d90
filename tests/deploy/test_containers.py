"""deploy/Dockerfile and deploy/compose.yaml: no root, nothing to write, nothing beyond this machine, and
commands that there are."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from proxy.cli.open_files import needed_files
from proxy.postgres.analyst_limits import MEMORY_PER_ANALYST
from proxy.servers.http.routes import Routes
from proxy.servers.login_gate import LoginGate
from tests.deploy.files import DEPLOY, ROOT, accepted, compose, dockerfile, final_stage

_SERVICES: dict[str, Any] = compose()["services"]
_STATE = "/var/lib/dpproxy"


def _of_last(word: str) -> Any:
    return [one for one in final_stage() if one.word == word][-1]


def _routes() -> set[str]:
    nothing = cast(Any, None)
    app = Routes({}, nothing, nothing, nothing, LoginGate()).app()
    return {cast(Any, route).path for route in app.routes}


def _check_health_check(words: Sequence[str], port: str) -> None:
    url = urlsplit(words[-1])
    assert url.path in _routes()
    assert url.hostname == "127.0.0.1"
    assert url.port == int(port.rpartition(":")[2])
    script = Path(words[-2])
    copied = [one.rest.split() for one in final_stage() if one.word == "COPY"]
    assert ["deploy/" + script.name, str(script)] in copied


def test_the_image_ends_as_a_user_who_is_not_root() -> None:
    user = _of_last("USER").rest
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert f"--uid {user.split(':')[0]} " in " ".join(one.rest for one in final_stage())
    assert _SERVICES["dpproxy"]["user"] == user


def test_what_the_image_copies_is_in_the_repository_and_seen_by_the_build() -> None:
    seen = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in seen
    sources = [
        source
        for one in dockerfile()
        if one.word == "COPY" and "--from=" not in one.rest
        for source in one.rest.split()[:-1]
    ]
    assert len(sources) >= 4
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in seen


def test_the_image_starts_a_command_that_there_is() -> None:
    assert _of_last("ENTRYPOINT").words() == ["dpproxy"]
    given = accepted(_of_last("CMD").words())
    assert given["state"] == Path(_STATE)
    assert _of_last("VOLUME").words() == [_STATE]
    assert given["tls_cert"], "it listens for other machines"
    assert given["tls_key"]
    assert given["tls"] is None
    _check_health_check(_of_last("HEALTHCHECK").words(), given["http"])
    ports = {given[listener].rpartition(":")[2] for listener in ("listen", "http")}
    assert set(_of_last("EXPOSE").rest.split()) == ports


def test_a_command_that_there_is_not_is_refused() -> None:
    with pytest.raises(Exception, match="--polcy"):
        accepted(["serve", "--polcy", "x"])


def test_services_run_without_root_and_without_a_file_system_to_write_to() -> None:
    assert set(_SERVICES) == {"db", "dpproxy"}
    for service in _SERVICES.values():
        assert str(service["user"]).split(":")[0] not in ("root", "0", "")
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not service.get("privileged")
        assert service.get("network_mode") is None


def test_the_memory_of_dpproxy_has_a_limit() -> None:
    service = _SERVICES["dpproxy"]
    assert service["mem_limit"] == service["memswap_limit"] == "4g"
    assert 2 * MEMORY_PER_ANALYST + (1 << 30) <= 4 << 30  # of two analysts at once


def test_services_are_reached_from_this_machine_only() -> None:
    published = Counter(name for name, one in _SERVICES.items() for _ in one.get("ports", ()))
    assert published == {"dpproxy": 2}
    for port in _SERVICES["dpproxy"]["ports"]:
        host, _, inside = port.rsplit(":", 2)
        assert ipaddress.ip_address(host).is_loopback
        assert inside in ("6432", "8432")
    assert _SERVICES["db"]["networks"] == ["protected"]
    assert compose()["networks"]["protected"] == {"internal": True}


def test_what_services_mount_is_there_and_read_only_but_for_their_data() -> None:
    volumes = compose()["volumes"]
    for service in _SERVICES.values():
        for mount in service["volumes"]:
            source, _, *mode = mount.split(":")
            if source in volumes:
                assert not mode
            else:
                assert mode == ["ro"]
                assert (DEPLOY / source).is_file()
    assert f"state:{_STATE}" in _SERVICES["dpproxy"]["volumes"]


def test_dpproxy_is_started_with_a_command_that_there_is() -> None:
    service = _SERVICES["dpproxy"]
    given = accepted(service["command"])
    assert given["state"] == Path(_STATE)
    _check_health_check(service["healthcheck"]["test"], given["http"])
    assert service["ulimits"]["nofile"] >= needed_files(4)
    build = service["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    (mount,) = (one for one in service["volumes"] if f":{given['policy'][0]}:ro" in one)
    policy = (DEPLOY / mount.split(":")[0]).read_text()
    secrets = {one["target"]: one["source"] for one in service["secrets"]}
    assert set(re.findall(r"\$\{(\w+)\}", policy)) == set(secrets)
    assert set(secrets.values()) <= set(compose()["secrets"])
    # `docker inspect` shows the environment.
    assert service["environment"] == {"CREDENTIALS_DIRECTORY": "/run/secrets"}
    given_as = compose()["secrets"]["shop_dsn"]["environment"]
    assert f'echo "{given_as}=' in (DEPLOY / "README.md").read_text()
