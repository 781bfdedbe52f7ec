"""One exception, read once: what of it may tell, as plain values."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .fault import Signal, Strength
from .reading import attribute, attribute_names, instance_dict, is_exception, text
from .rules import Rule, phrase


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Where foreign exceptions keep what may tell something, in the order in which we believe it.
STATUS_NAMES: Final = _names(
    "status_code http_status http_status_code http_code status response_status statuscode response_code errcode"
)
CODE_NAMES: Final = _names("""
    code error_code errorcode err_code error error_type type reason status kind error_name grpc_status_code
    sqlite_errorname name code_name codename title result description errtype exit_reason
""")
SQLSTATE_NAMES: Final = _names("sqlstate pgcode")
RESPONSE_NAMES: Final = _names("response resp meta raw_response http_response res")
BODY_NAMES: Final = _names("""
    body json_body error_body data details error_details error errors content response_body response_text error_response
    error_data response_content payload
""")
HEADER_NAMES: Final = _names("headers response_headers hdrs http_headers trailing_metadata")
NESTED_NAMES: Final = _names("""
    last_attempt reason orig original_exception original_error original last_exception last_exc last_error
    inner_exception inner exc exception error errors cause root_cause wrapped parent os_error underlying
""")
NUMBER_NAMES: Final = _names(
    "errno winerror strerror returncode exit_code exit_status cmd code error smtp_code recipients rcvd"
)
HINT_NAMES: Final = _names("retriable retryable is_retryable should_retry can_retry temporary")
WAIT_NAMES: Final = _names("retry_after retry_after_seconds retry_after_ms")
OTHER_NAMES: Final = _names("stderr phase")

STATUS, CODE, RESPONSE, BODY, HEADER, NESTED, NUMBER, WAIT, HINT = (1 << place for place in range(9))
"""What an attribute may tell; an attribute may have several of these roles."""

_BY_ROLE: Final = {
    STATUS: (*STATUS_NAMES, *RESPONSE_NAMES, "code"),
    CODE: (*CODE_NAMES, *SQLSTATE_NAMES, "response"),
    RESPONSE: RESPONSE_NAMES,
    BODY: (*BODY_NAMES, *RESPONSE_NAMES),
    HEADER: (*HEADER_NAMES, *RESPONSE_NAMES),
    NESTED: NESTED_NAMES,
    NUMBER: NUMBER_NAMES,
    WAIT: WAIT_NAMES,
    HINT: HINT_NAMES,
    0: OTHER_NAMES,
}
_ROLES: Final = {
    name: sum(role for role, names in _BY_ROLE.items() if name in names)
    for names in _BY_ROLE.values()
    for name in names
}
_READ: Final = frozenset(_ROLES)


# Which words in a class's names say whose numbers it carries.
_PROTOCOLS = {
    "reply": (" smtp ", " ftp ", " nntp ", " error perm ", " error temp ", " error reply ", " error proto "),
    "close": (" websocket ", " web socket ", " connection closed "),
    "curl": (" pycurl ", " curl "),
    "mysql": (
        " operational ",
        " programming ",
        " integrity ",
        " database ",
        " data error ",
        " internal error ",
        " interface error ",
    ),
}


@dataclass(slots=True)
class Hit:
    """A rule that a signal matched."""

    signal: Signal
    observed: str
    rule: Rule
    strength: Strength


class Profile(NamedTuple):
    """What all exceptions of one class have in common."""

    qualified: str
    names: tuple[tuple[str, str], ...]
    """(module, name) of the class and its bases, up to Exception."""
    readable: tuple[str, ...]
    """Attributes worth reading that come from the class."""
    words: str
    """All the names, as words."""
    speaks: tuple[str, ...]
    """Protocols whose numbers the class uses."""
    located: bool
    """Whether the place where it was raised may say more than the class."""
    plain: bool
    """Whether the class is a builtin or a bare Exception subclass without a name of its own."""


_profiles: weakref.WeakKeyDictionary[type, Profile] = weakref.WeakKeyDictionary()  # classes may be made on the fly


def profile(kind: type) -> Profile:
    """The class's profile, cached."""
    try:
        return _profiles[kind]
    except KeyError:
        pass
    names = tuple(
        (str(base.__module__), _telling_name(base))
        for base in kind.__mro__
        if issubclass(base, BaseException) and base not in (BaseException, Exception)
    )
    defined = attribute_names(kind) - {"args", "add_note"}
    dynamic = "__getattr__" in defined or "__getattribute__" in defined - {"__getattribute__"}
    readable = tuple(sorted(_READ if dynamic else _READ & defined))
    words = " |".join(phrase(name) for _, name in names)
    speaks = tuple(kind for kind, marks in _PROTOCOLS.items() if any(mark in words for mark in marks))
    located = kind is RuntimeError or issubclass(
        kind, (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
    )
    found = Profile(_qualified(kind), names, readable, words, speaks, located, kind.__module__ == "builtins")
    _profiles[kind] = found
    return found


def _telling_name(kind: type) -> str:
    """The class's name; with its module's where it says no more than "error"."""
    name = kind.__qualname__.rpartition(".")[2]
    return (
        f"{str(kind.__module__).rpartition('.')[2].title()}{name.title()}"
        if name.lower() in ("error", "exception")
        else name
    )


def _qualified(kind: type) -> str:
    module = str(kind.__module__)
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


class Evidence:
    """What one exception carries, without its causes."""

    __slots__ = ("_text", "args", "attrs", "exc", "kind", "profile", "roles")

    def __init__(self, exc: BaseException) -> None:
        """Read every attribute that may tell something, once."""
        self.exc = exc
        self.kind = type(exc)
        self.profile = profile(self.kind)
        attrs: dict[str, Any] = {}
        roles = 0
        for name in self.profile.readable:
            value = attribute(exc, name)
            if value is not None:
                attrs[name] = value
                roles |= _ROLES[name]
        for key, value in instance_dict(exc).items():
            name = key.rpartition("__")[2] if key[:1] == "_" else key  # name-mangled ones too
            if value is not None and name not in attrs and (role := _ROLES.get(name)) is not None:
                attrs[name] = value
                roles |= role
        self.attrs = attrs
        self.roles = roles
        args = attribute(exc, "args")
        self.args: tuple[Any, ...] = args if type(args) is tuple else ()
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The exception's own text, bounded."""
        if self._text is None:
            self._text = text(self.exc)
        return self._text

    def has(self, role: int) -> bool:
        """Whether any attribute of the role was there."""
        return bool(self.roles & role)

    def responses(self) -> list[Any]:
        """Objects that stand for the server's answer."""
        if not self.roles & RESPONSE:
            return []
        return [r for name in RESPONSE_NAMES if (r := self.attrs.get(name)) is not None and not is_exception(r)]
