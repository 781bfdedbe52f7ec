"""The recovery packet: what the person who takes over needs, without reading logs (S3)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from otel_toolerrors.engine import Decision
from otel_toolerrors.faults import Fault
from otel_toolerrors.vocabulary import SideEffects, StopReason

from .envelope import is_open_write
from .published import PUBLISHED


class RecoveryPacket(BaseModel):
    """What failed, and what may and may not be done next."""

    model_config = PUBLISHED

    run_id: str
    trace_id: str | None
    tool: str
    failed_step: str
    """The call that failed, by tool and target digest; never its arguments."""
    code: str
    summary: str
    side_effects: SideEffects
    attempts: int
    tried: tuple[str, ...]
    """Tools called, one name per attempt."""
    stop_reason: StopReason | None
    retry_after: float | None
    safe_next_actions: tuple[str, ...]
    unsafe_next_actions: tuple[str, ...]
    suggested_prompt: str

    def as_text(self) -> str:
        """Render the compact form for a terminal."""
        rows = [
            ("status", "failed"),
            ("code", self.code),
            ("side effects", self.side_effects),
            ("attempts", str(self.attempts)),
            *((("retry after", f"{self.retry_after:g} s"),) if self.retry_after is not None else ()),
            *(("safe next action", action) for action in self.safe_next_actions),
            *(("unsafe next action", action) for action in self.unsafe_next_actions),
        ]
        head = f"[{self.trace_id or self.run_id}] {self.tool}"
        return "\n".join([head, *(f"{name}: {value}" for name, value in rows)])


def packets_to(folder: str | Path) -> Callable[[RecoveryPacket], None]:
    """Give an ``on_packet`` that writes each packet into ``folder`` as JSON, readable by its owner only."""
    folder = Path(folder)

    def write(packet: RecoveryPacket) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{packet.run_id}-", suffix=".json", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(packet.model_dump_json(indent=2))
        Path(name).chmod(0o600)

    return write


_SAFE: dict[str, tuple[str, ...]] = {
    "permission": ("check the credentials and the access rights of this tool",),
    "transient": ("check whether the service is up, then start the run again",),
    "rate_limited": ("wait for the time given, or ask for a higher limit",),
    "validation": ("correct the arguments and start the run again",),
    "not_found": ("find out whether the thing exists and under which name",),
    "bug": ("look at the trace and fix the tool",),
    "permanent": ("choose another way; check quota and billing if the code says so",),
    "unknown": ("look at the trace to see what happened",),
}

_VERIFY = "verify whether the operation took effect before doing anything else"
_SAME_KEY = "repeat it with the same idempotency key"
_NO_REPEAT = "do not repeat the operation before its effect is known"
_NO_NEW_KEY = "do not repeat it with a new idempotency key"
_NO_UNDO = "do not undo it blindly: it may not have happened"
_DONE = "do not repeat the operation: it has taken effect"


def packet_for(
    decision: Decision, fault: Fault, tool: str, *, summary: str, target: str, run_id: str, trace_id: str | None,
    keyed: bool,
) -> RecoveryPacket:  # fmt: skip
    """Write the packet for a failed call."""
    writes = fault.effects in ("write", "destructive")
    open_write = is_open_write(fault)
    first = (_VERIFY, _SAME_KEY) if keyed else (_VERIFY,)
    safe = (*(first if open_write else ()), *_SAFE.get(fault.category, _SAFE["unknown"]))
    unsafe: tuple[str, ...] = (_DONE,) if writes and fault.side_effects == "committed" else ()
    if open_write:
        unsafe = (_NO_NEW_KEY if keyed else _NO_REPEAT, _NO_UNDO)
    where = f"trace {trace_id}" if trace_id else f"run {run_id}"
    return RecoveryPacket(
        run_id=run_id,
        trace_id=trace_id or None,
        tool=tool,
        failed_step=f"{tool} {target}".strip(),
        code=fault.code,
        summary=summary,
        side_effects=fault.side_effects,
        attempts=decision.attempts,
        tried=decision.tried,
        stop_reason=decision.stop,
        retry_after=fault.retry_after,
        safe_next_actions=safe,
        unsafe_next_actions=unsafe,
        suggested_prompt=f"{tool} failed with {fault.code} ({where}). First: {safe[0]}.",
    )
