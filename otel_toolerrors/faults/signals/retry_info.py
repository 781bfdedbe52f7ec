"""``google.rpc.RetryInfo``, which gRPC servers send among the status details in a binary trailer.

A message of Protocol Buffers is a sequence of fields; only the few numbers that
lead to the delay are read, so that no generated classes are needed.
Source: google/rpc/status.proto, google/rpc/error_details.proto, google/protobuf/duration.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

TRAILER: Final = "grpc-status-details-bin"

_LONGEST: Final = 65_536  # bytes of a trailer that are read
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_STATUS_DETAILS, _ANY_TYPE, _ANY_VALUE, _RETRY_DELAY, _SECONDS, _NANOS = 3, 1, 2, 1, 1, 2


def delay(status: bytes) -> float | None:
    """Seconds that the server asks to wait; None if it does not say, or not legibly."""
    try:
        for detail in _messages(status[:_LONGEST], _STATUS_DETAILS):
            if next(_messages(detail, _ANY_TYPE), b"").endswith(b"google.rpc.RetryInfo"):
                info = next(_messages(detail, _ANY_VALUE), b"")
                duration = dict(_fields(next(_messages(info, _RETRY_DELAY), b"")))
                seconds, nanos = duration.get(_SECONDS, 0), duration.get(_NANOS, 0)
                if isinstance(seconds, int) and isinstance(nanos, int):
                    return seconds + nanos / 1e9
    except IndexError:  # cut off
        pass
    return None


def _messages(message: bytes, wanted: int) -> Iterator[bytes]:
    return (value for number, value in _fields(message) if number == wanted and isinstance(value, bytes))


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            number, place = _varint(message, place)
            yield key >> 3, number
        elif kind == _BYTES:
            length, place = _varint(message, place)
            if place + length > len(message):
                raise IndexError(place)
            yield key >> 3, message[place : place + length]
            place += length
        elif kind in (_FIXED64, _FIXED32):
            place += 8 if kind == _FIXED64 else 4
        else:
            return  # no field that a message may have today


def _varint(message: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80 or shift > 63:
            return number, place
