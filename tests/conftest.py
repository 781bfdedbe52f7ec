"""What holds for every test: no network but loopback, no foreign telemetry settings, the same examples each time."""

import ipaddress
import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("everyday", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


def _only_loopback(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse a connection that would leave the machine; an audit hook sees every Python socket of the process."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple) and not _is_loopback(str(address[0])):  # the address of a Unix socket is no tuple
        raise PermissionError(f"Tests reach loopback only, not {address[0]}: start a server in the test.")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which the system would look up
        return host == "localhost"


sys.addaudithook(_only_loopback)


@pytest.fixture(autouse=True)
def _own_telemetry_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever OTEL_* says on the developer's machine does not reach the tests."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
