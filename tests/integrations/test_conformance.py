import importlib.util
from pathlib import Path

import pytest

from tests.integrations.conformance.adapter import APART, FRAMEWORKS, adapters_of, play
from tests.integrations.conformance.scenarios import SCENARIOS
from tests.integrations.conformance.table import PAGE, RELEASES, render


def _cases():
    for framework, modules in FRAMEWORKS.items():
        if framework in APART:
            continue
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        if missing:
            reason = f"{framework} needs {', '.join(missing)}"
            yield pytest.param(None, None, id=framework, marks=pytest.mark.skip(reason=reason))
            continue
        for adapter in adapters_of(framework):
            for scenario in SCENARIOS:
                if scenario.name not in adapter.impossible:
                    yield pytest.param(adapter, scenario, id=f"{adapter.name}-{scenario.name}")


@pytest.mark.parametrize(("adapter", "scenario"), list(_cases()))
def test_adapter_conforms(adapter, scenario):
    """Every adapter does in every scenario what all of them do, with the framework at its current release."""
    play(adapter, scenario)


def test_table_is_up_to_date():
    """The documentation's table is what the suite says it is."""
    modules = [module for name, modules in FRAMEWORKS.items() for module in modules if name not in APART]
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"the table needs every framework; missing: {', '.join(missing)}")

    expected = render().partition(RELEASES)[0]  # a newer release alone makes no page stale

    written = Path(PAGE).read_text(encoding="utf-8").partition(RELEASES)[0]
    assert expected == written, "stale: python -m tests.integrations.conformance"
