"""The package as a user of the bare core gets it: built, and installed with no extra into an environment of its own."""

import json
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "otel_toolerrors"

# The SDK's side of telemetry: configure() imports these, and says so if it cannot.
NEED_THE_SDK = {"otel_toolerrors.telemetry.pipelines", "otel_toolerrors.telemetry.processors"}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Build the package, install it and its two dependencies, and return that environment's interpreter."""
    home = tmp_path_factory.mktemp("core")
    venv.create(home, with_pip=True)
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", ROOT]
    subprocess.run(install, check=True)
    return python


def run(python, code, *, check=True):
    """Run code apart from the checkout: isolated, and somewhere else."""
    command = [python, "-I", "-c", code]
    return subprocess.run(command, cwd=python.parent, capture_output=True, text=True, check=check)


def test_no_extra_is_there(python):
    """The environment holds the core's dependencies, and no SDK, database, HTTP client or terminal library."""
    found = run(python, "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))")
    names = set(json.loads(found.stdout))
    assert {"otel-toolerrors", "opentelemetry-api", "pydantic"} <= names
    assert not names & {"duckdb", "httpx", "opentelemetry-sdk", "rich", "typer"}


@pytest.mark.parametrize(
    "room", ["vocabulary", "faults", "policy", "engine", "models", "surface", "layer", "telemetry"]
)
def test_every_module_of_the_room_imports(python, room):
    """A room of the core imports to its last module without any extra."""
    code = f"""
import importlib, pkgutil
room = importlib.import_module("otel_toolerrors.{room}")
for module in pkgutil.walk_packages(getattr(room, "__path__", []), room.__name__ + "."):
    if module.name not in {NEED_THE_SDK}:
        importlib.import_module(module.name)
"""
    run(python, code)


def test_a_tool_call_recovers(python):
    """The layer does its work on the core alone: a read that is refused once is called again."""
    code = """
import otel_toolerrors as te
layer = te.RecoveryLayer(policy=te.Policy())
failures = [ConnectionRefusedError(111, "refused")]

@layer.tool(effects="read")
def search(query: str) -> str:
    if failures:
        raise failures.pop()
    return "found " + query

with layer.run(agent="test") as run:
    outcome = run.call("search", {"query": "x"}, call_id="1")
print(outcome.kind, outcome.value)
"""
    assert run(python, code).stdout == "ok found x\n"


@pytest.mark.parametrize(
    ("use", "extra"),
    [
        ("import otel_toolerrors as te; te.configure()", "otlp"),
        ("import otel_toolerrors.analysis", "analysis"),
        ("import otel_toolerrors.cli as cli; cli.main()", "cli"),
    ],
)
def test_a_missing_extra_is_named(python, use, extra):
    """Who uses a part without its extra is told what to install."""
    failed = run(python, use, check=False)
    assert failed.returncode != 0
    assert re.search(rf"pip install .otel-toolerrors\[.*\b{extra}\b.*\]", failed.stderr)


def test_data_files_are_installed(python):
    """Whatever stands in the package's folder beside the code is in the wheel, the typing marker included."""
    listed = subprocess.run(["git", "ls-files", "."], cwd=PACKAGE, capture_output=True, text=True, check=True)
    data = {name for name in listed.stdout.split() if not name.endswith(".py")}
    where = run(python, "import otel_toolerrors; print(otel_toolerrors.__path__[0])")
    installed = Path(where.stdout.strip())
    assert "py.typed" in data
    assert {name for name in data if not (installed / name).is_file()} == set()
