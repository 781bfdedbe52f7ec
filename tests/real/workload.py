"""An agent's work for the real tests: every kind of outcome, through the public API, in a process of its own.

Writes one line of JSON for each call (what the model was answered, and how long it took) and a last one with what
telemetry lost. Where its telemetry goes is for the environment to say. The faults are made up; nothing else is.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import count
from types import SimpleNamespace

import otel_toolerrors as te


class StatusError(Exception):
    """What an HTTP client raises: it carries the response."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"the server answered {status}")
        self.response = SimpleNamespace(
            status_code=status, headers={key.replace("_", "-"): value for key, value in headers.items()}
        )


_turns = count()


def _every_second_time(error: Exception) -> str:
    if next(_turns) % 2 == 0:
        raise error
    return "found"


def search(query: str) -> str:
    """Work."""
    return f"results for {query}"


def lookup(name: str) -> str:
    """Lose the connection every second time."""
    return _every_second_time(ConnectionResetError(f"connection reset while reading {name}"))


def crawl(url: str) -> str:
    """Be told to wait every second time."""
    return f"{url}: {_every_second_time(StatusError(429, Retry_After='1'))}"


def read_note(path: str) -> str:
    """Name what does not exist."""
    raise FileNotFoundError(2, "No such file or directory", path)


def forecast(city: str) -> str:
    """Never answer."""
    raise TimeoutError(f"no answer about {city} within 5 s")


def weather(city: str) -> str:
    """Never answer, but somebody can stand in."""
    raise TimeoutError(f"no answer about {city} within 5 s")


def almanac(city: str) -> str:
    """Stand in for the weather."""
    return f"{city}: as last year"


def send_mail(to: str) -> str:
    """Leave open whether the message went out; and tell a secret."""
    raise TimeoutError(f"no answer after the message to {to} was sent; Bearer abcdefghijklmnop0123456789")


def stock(**_item: str) -> str:
    """Be part of a service that is down."""
    raise StatusError(503)


def quirk(what: str) -> str:
    """Fail in a way that nothing explains."""
    raise RuntimeError(f"zorp {what}")


def pay(**_amount: int) -> str:
    """Be forbidden."""
    raise StatusError(403)


POLICY = """
    [retry]
    base_delay = 0.01
    [run]
    tool_failures = 3
    corrections = 100
    corrections_in_a_row = 100
    stop_on = ["permission"]
    [services.inventory.breaker]
    mode = "consecutive"
    consecutive_failures = 3
    cooldown = 600
"""


def layer_of_tools() -> te.RecoveryLayer:
    """Tools that fail in every way there is, around which no wait is long."""
    layer = te.RecoveryLayer(te.parse_policy(POLICY), sleep=lambda seconds: time.sleep(min(seconds, 0.02)))
    for read in (search, lookup, crawl, read_note, forecast, almanac, quirk):
        layer.tool(effects="read")(read)
    layer.tool(effects="read", fallback=("almanac",))(weather)
    layer.tool(effects="read", service="inventory")(stock)
    for write in (send_mail, pay):
        layer.tool(effects="write")(write)
    return layer


CALLS = [
    *[("search", {"query": f"q{number}"}) for number in range(4)],
    ("lookup", {"name": "ada"}),
    ("crawl", {"url": "https://example.invalid/"}),
    ("read_note", {"path": "notes/missing.md"}),
    ("forecast", {"city": "Bern"}),
    ("weather", {"city": "Bern"}),
    ("send_mail", {"to": "ada"}),
    ("stock", {"item": "bolt"}),
    ("stock", {"item": "bolt"}),
    ("quirk", {"what": "one"}),
    ("made_up_by_the_model", {}),
]
"""What every run calls first."""

ENDINGS = [
    [("pay", {"amount": 3}), ("search", {"query": "after the stop"})],
    [("read_note", {"path": "notes/missing.md"})] * 2,
]
"""What stops a run: a permission that only a person can give, or a model that repeats itself."""


def main() -> int:
    """Work, and say how it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--service", default="workload")
    parser.add_argument("--traces-dir", default=".toolerrors/traces")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two runs")
    arguments = parser.parse_args()

    with te.configure(arguments.service, traces_dir=arguments.traces_dir) as telemetry:
        layer = layer_of_tools()
        for number in range(arguments.runs):
            time.sleep(arguments.pause if number else 0.0)
            with layer.run(agent="triage", run_id=f"run-{number}") as run:
                for tool, call in CALLS + ENDINGS[number % len(ENDINGS)]:
                    began = time.perf_counter()
                    outcome = run.call(tool, call)
                    seconds = time.perf_counter() - began
                    _say(run=number, tool=tool, outcome=outcome.kind, text=outcome.text, seconds=seconds)
        began = time.perf_counter()
    _say(dropped=telemetry.dropped, shutdown_seconds=time.perf_counter() - began)
    return 0


def _say(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
