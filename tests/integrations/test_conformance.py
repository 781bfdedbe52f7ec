import pytest

from tests.integrations.conformance.adapter import FRAMEWORKS, adapters_of, play
from tests.integrations.conformance.scenarios import SCENARIOS


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_adapter_conforms(framework, scenario):
    """Every adapter does in every scenario what all of them do, with the framework at its current release."""
    for module in FRAMEWORKS[framework]:
        pytest.importorskip(module, reason=f"the adapters in {framework} need {module}")
    for adapter in adapters_of(framework):
        if scenario.name not in adapter.impossible:
            play(adapter, scenario)
