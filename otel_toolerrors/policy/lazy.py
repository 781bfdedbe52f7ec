"""Attributes that are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - a decorator, like functools.cached_property
    """Make the attribute when it is first read.

    ``functools.cached_property`` of Python 3.11 holds one lock for all instances meanwhile, which a forked child would
    wait for for ever, and threads for each other.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        """Find it or make it; of two threads that make it at once, both get the same."""
        if instance is None:
            return self
        made: T = instance.__dict__.setdefault(self._make.__name__, self._make(instance))
        return made
