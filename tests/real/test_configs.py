import os
import subprocess
from pathlib import Path

import pytest

from tests.real.parts import COLLECTOR, built

pytestmark = pytest.mark.real

COMBINATIONS = [
    ("config.yaml",),
    ("config.yaml", "gateway.yaml"),
    ("config.yaml", "clickhouse.yaml"),
    ("config.yaml", "gateway.yaml", "clickhouse.yaml"),
]


def _validate(configs: list[Path], data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [built("collector"), "validate", *(f"--config={path}" for path in configs)],
        env=os.environ | {"TOOLERRORS_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("names", COMBINATIONS, ids=" + ".join)
def test_the_collector_accepts_what_is_shipped(names: tuple[str, ...], tmp_path: Path):
    """Each configuration that the page tells people to run is valid for the distribution in builder.yaml."""
    done = _validate([COLLECTOR / name for name in names], tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_collector_refuses_what_is_not_valid(tmp_path: Path):
    """A misspelt key does not pass, so that acceptance means something."""
    shipped = (COLLECTOR / "config.yaml").read_text()
    (tmp_path / "config.yaml").write_text(shipped.replace("decision_wait:", "decision_weight:"))
    done = _validate([tmp_path / "config.yaml"], tmp_path)
    assert done.returncode != 0
    assert "decision_weight" in done.stderr
