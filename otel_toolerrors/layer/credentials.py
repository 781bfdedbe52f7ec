"""Refreshing credentials: once per run and credential, however many calls ask at the same time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from threading import Lock
from typing import Any

Refresher = Callable[[], Any] | Callable[[], Awaitable[Any]]
"""Gets a new credential and puts it where the tools find it. It returns False, or raises, when it cannot."""


class Refreshes:
    """The refreshes of one run: the first caller does it, everybody else waits for the same result."""

    def __init__(self, refreshers: Mapping[str, Refresher]) -> None:
        self._refreshers = refreshers
        self._lock = Lock()
        self._results: dict[str, Future[bool]] = {}

    def refresh(self, credential: str) -> bool:
        """Refresh, blocking."""
        mine, result = self._claim(credential)
        if mine:
            self._settle(result, lambda: _finish_sync(self._refreshers[credential]()))
        return result.result()

    async def arefresh(self, credential: str) -> bool:
        """Refresh in the current task."""
        mine, result = self._claim(credential)
        if not mine:
            return await asyncio.wrap_future(result)
        try:
            answer = self._refreshers[credential]()
            result.set_result((await answer if inspect.isawaitable(answer) else answer) is not False)
        except Exception:  # noqa: BLE001 - a refresher that fails has not refreshed; the 401 itself is reported
            result.set_result(False)
        except BaseException:
            result.set_result(False)
            raise
        return result.result()

    def _claim(self, credential: str) -> tuple[bool, Future[bool]]:
        with self._lock:
            result = self._results.get(credential)
            if result is not None:
                return False, result
            result = self._results[credential] = Future()
            if credential not in self._refreshers:
                result.set_result(False)
                return False, result
            return True, result

    @staticmethod
    def _settle(result: Future[bool], work: Callable[[], bool]) -> None:
        try:
            result.set_result(work())
        except Exception:  # noqa: BLE001 - as above
            result.set_result(False)
        except BaseException:
            result.set_result(False)
            raise


def _finish_sync(answer: Any) -> bool:
    if inspect.isawaitable(answer):
        raise TypeError("an async refresher needs run.acall()")
    return answer is not False
