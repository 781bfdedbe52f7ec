import sys

import grimp
import pytest

# What a room may import besides the standard library and the rooms below it.
ALLOWED = {
    "vocabulary": set(),
    "faults": set(),
    "policy": {"pydantic"},
    "engine": set(),
    "models": set(),
    "surface": {"pydantic"},
    "layer": {"opentelemetry", "pydantic"},
    "telemetry": {"opentelemetry"},
}


@pytest.fixture(scope="module")
def graph():
    """Every import statement of the package, those inside functions included."""
    return grimp.build_graph("otel_toolerrors", include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize("room", ALLOWED)
def test_room_imports_its_allowance_only(graph, room):
    """A room of the core depends on nothing that is not named here, not even inside a function."""
    module = f"otel_toolerrors.{room}"
    assert module in graph.modules
    imported = {
        name
        for part in {module} | graph.find_descendants(module)
        for name in graph.find_modules_directly_imported_by(part)
    }
    foreign = {name for name in imported if not name.startswith("otel_toolerrors")} - sys.stdlib_module_names
    assert foreign <= ALLOWED[room]
