"""The containers are not started here: what their files refer to exists."""

import re
from pathlib import Path

import yaml

COLLECTOR = Path(__file__).parents[2] / "collector"
COMPOSE = [yaml.safe_load((COLLECTOR / name).read_text()) for name in ("compose.yaml", "compose.clickhouse.yaml")]
CONFIGS = "".join((COLLECTOR / name).read_text() for name in ("config.yaml", "gateway.yaml", "clickhouse.yaml"))


def test_what_is_mounted_exists():
    """Every file and folder of this repository that a container mounts is there."""
    mounts = [
        mount for file in COMPOSE for service in file["services"].values() for mount in service.get("volumes", [])
    ]
    paths = [mount.split(":")[0] for mount in mounts if mount.startswith(".")]
    assert paths
    assert [] == [path for path in paths if not (COLLECTOR / path).exists()]


def test_what_the_collector_is_told_it_reads():
    """Every variable that is set for the collector, but Go's own, stands in a configuration."""
    named = set(re.findall(r"\$\{env:([A-Z0-9_]+)", CONFIGS))
    told = {name for file in COMPOSE for name in file["services"]["collector"]["environment"]}
    assert {"GOMEMLIMIT"} == told - named


def test_every_service_that_is_named_is_there():
    """Endpoints and scrape targets lead to services of the same file."""
    services = {name for file in COMPOSE for name in file["services"]}
    texts = [(COLLECTOR / name).read_text() for name in ("compose.yaml", "compose.clickhouse.yaml")]
    texts += [path.read_text() for path in (COLLECTOR / "provisioning").rglob("*.yaml")]
    hosts = set(re.findall(r"(?:tcp://|http://|: |\[|, )([a-z]+):\d{4}", "".join(texts)))
    assert "prometheus" in hosts
    assert hosts <= services


def test_the_collector_that_runs_is_the_one_that_was_tested():
    """The image has the version of the distribution that the tests build."""
    manifest = yaml.safe_load((COLLECTOR / "builder.yaml").read_text())
    assert COMPOSE[0]["services"]["collector"]["image"].endswith(f":{manifest['dist']['version']}")


def test_only_loopback_is_opened():
    """No port of a container can be reached from another host."""
    ports = [port for file in COMPOSE for service in file["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
