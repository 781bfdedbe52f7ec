"""A recovery layer for agent tool calls that explains itself, and learns.

Example::

    import otel_toolerrors as te

    te.configure(service_name="triage")
    layer = te.RecoveryLayer()


    @layer.tool(effects="read")
    def search(query: str) -> list[str]: ...


    with layer.run(agent="triage") as run:
        outcome = run.call("search", {"query": "x"}, call_id="toolu_1")
"""

from __future__ import annotations

from .faults import Fault, RuleError, classify, classify_result, load_rules
from .layer import RecoveryLayer, Run, Stopped
from .policy import Policy, PolicyError, load_policy, parse_policy
from .surface import (
    Catalog,
    CatalogError,
    Envelope,
    Outcome,
    RecoveryExhausted,
    RecoveryPacket,
    ToolRunTerminated,
    load_catalog,
)
from .telemetry import configure

__all__ = [
    "Catalog",
    "CatalogError",
    "Envelope",
    "Fault",
    "Outcome",
    "Policy",
    "PolicyError",
    "RecoveryExhausted",
    "RecoveryLayer",
    "RecoveryPacket",
    "RuleError",
    "Run",
    "Stopped",
    "ToolRunTerminated",
    "classify",
    "classify_result",
    "configure",
    "load_catalog",
    "load_policy",
    "load_rules",
    "parse_policy",
]
