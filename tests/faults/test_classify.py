import asyncio
import concurrent.futures
import email.utils
import errno
import os
import socket
import ssl
import threading
from unittest.mock import MagicMock

import pytest

from otel_toolerrors.faults import classify, is_control_flow
from otel_toolerrors.faults.signals import retry_info

NOW = 1_800_000_000.0


class ApiError(Exception):
    """A tool author's exception: whatever attributes it is given."""

    def __init__(self, message="", **attributes):
        super().__init__(message)
        self.__dict__.update(attributes)


class Response:
    """An answer as HTTP clients keep it; falsy when it is an error, as one of them has it."""

    def __init__(self, status, headers=(), body=None):
        self.status_code = status
        self.headers = dict(headers)
        self._content = body

    def __bool__(self):
        return self.status_code < 400


def raised(call, *args, **kwargs):
    """The exception that the call raises, with its traceback."""
    try:
        call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - it is what the test asks for
        return error
    raise AssertionError("nothing was raised")


def by(fault):
    """What most tests compare."""
    return fault.category, fault.code, fault.passing, fault.side_effects


# ------------------------------------------------------------------- the system


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), ("transient", "connection.refused", True, "none")),
        (ConnectionResetError(errno.ECONNRESET, "x"), ("transient", "connection.reset", True, "unknown")),
        (FileNotFoundError(errno.ENOENT, "x"), ("not_found", "not_found", False, "none")),
        (PermissionError(errno.EACCES, "x"), ("permission", "os.denied", False, "none")),
        (OSError(errno.ENOSPC, "x"), ("bug", "os.exhausted", False, "unknown")),
        (socket.gaierror(socket.EAI_AGAIN, "x"), ("transient", "connection.dns", True, "none")),
        (socket.gaierror(socket.EAI_NONAME, "x"), ("not_found", "dns.no_name", False, "none")),
        (TimeoutError("x"), ("transient", "timeout", True, "unknown")),
        (ssl.SSLCertVerificationError(1, "x"), ("bug", "tls.certificate", False, "none")),
    ],
)
def test_the_systems_own_errors(error, expected):
    """An errno, or the class that stands for it, says what happened and what was sent."""
    assert expected == by(classify(error, effects="write"))


def test_a_refused_connection_is_refused_through_any_wrapper():
    """The cause decides where the exception itself says nothing, and only its evidence counts for a write."""
    refused = raised(socket.create_connection, ("127.0.0.1", _closed_port()))
    wrapped = ApiError("payment failed")
    wrapped.__cause__ = refused

    fault = classify(wrapped, effects="write")

    assert ("connection.refused", True) == (fault.code, fault.retryable)
    assert "chain" in {verdict.signal for verdict in fault.verdicts}


def test_an_earlier_request_that_may_have_landed_outweighs_a_refused_second_one():
    """A read timeout in the context: a write may have been carried out, although the last attempt sent nothing."""

    class ReadTimeout(Exception):  # noqa: N818 - as the libraries name it
        pass

    refused = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
    refused.__context__ = ReadTimeout("no answer")

    assert ("unknown", False) == (
        classify(refused, effects="write").side_effects,
        classify(refused, effects="write").retryable,
    )


# -------------------------------------------------------------------------- HTTP


@pytest.mark.parametrize(
    ("status", "category", "passing", "side_effects"),
    [
        (400, "validation", False, "none"), (401, "permission", False, "none"), (403, "permission", False, "none"),
        (404, "not_found", False, "none"), (408, "transient", True, "unknown"), (409, "validation", False, "none"),
        (410, "permanent", False, "none"), (418, "validation", False, "none"), (425, "transient", True, "none"),
        (429, "rate_limited", True, "none"), (500, "transient", True, "unknown"), (501, "permanent", False, "none"),
        (503, "transient", True, "unknown"), (504, "transient", True, "unknown"), (599, "transient", True, "unknown"),
    ],
)  # fmt: skip
def test_http_statuses(status, category, passing, side_effects):
    """A status means the same on the exception and on its response, falsy or not."""
    on_error = classify(ApiError("failed", status_code=status), effects="write")
    on_response = classify(ApiError("failed", response=Response(status)), effects="write")

    assert (category, f"http.{status}", passing, side_effects) == by(on_error) == by(on_response)
    assert status == on_error.http_status == on_response.http_status


@pytest.mark.parametrize("status", [True, 0, 99, 600, 404001, -503, "teapot", None, 5.03, b"\xff", object()])
def test_what_is_no_status_is_not_taken_for_one(status):
    """Only numbers from 100 to 599 are HTTP."""
    assert classify(ApiError("failed", status=status)).http_status is None


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"Retry-After": email.utils.formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"Retry-After": email.utils.formatdate(NOW - 3600, usegmt=True)}, 0.0),
        ({"Retry-After": "864000"}, 864_000.0),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1e300"}, None),
        ({"Retry-After": "soon"}, None),
        ({b"retry-after": b"9"}, 9.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 40)}, 40.0),
        ({"x-ratelimit-remaining": "12", "x-ratelimit-reset": str(int(NOW) + 40)}, None),
    ],
)
def test_how_long_a_server_wants_us_to_wait(headers, wait):
    """Seconds, milliseconds, dates and reset headers count; garbage and negative or endless waits do not."""
    assert wait == classify(ApiError("slow", response=Response(429, headers)), now=NOW).retry_after


def test_the_servers_own_word_beats_its_status():
    """``x-should-retry`` says whether to repeat, whatever the status suggests."""
    no = classify(ApiError("x", response=Response(503, {"x-should-retry": "false"})))
    yes = classify(ApiError("x", response=Response(409, {"x-should-retry": "true"})))

    assert (False, True) == (no.passing, no.refused_by_server)
    assert (True, False) == (yes.passing, yes.refused_by_server)


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (429, {}, b'{"error": {"code": "insufficient_quota"}}', ("permanent", "quota.exhausted")),
        (400, {}, b'{"__type": "com.amazonaws#ThrottlingException"}', ("rate_limited", "rate_limit")),
        (403, {"Retry-After": "60"}, b'{"message": "no"}', ("rate_limited", "http.429")),
        (
            403,
            {},
            b'{"message": "You have exceeded a secondary rate limit."}',
            ("rate_limited", "rate_limit.secondary"),
        ),
        (
            400,
            {},
            b'{"error": {"message": "maximum context length is 4096 tokens"}}',
            ("validation", "context_overflow"),
        ),
        (413, {}, b'{"error": {"code": "rate_limit_exceeded"}}', ("validation", "http.413")),
        (403, {}, b'{"error": {"errors": [{"reason": "userRateLimitExceeded"}]}}', ("rate_limited", "rate_limit")),
    ],
)
def test_what_the_body_says_is_finer_than_the_status(status, headers, body, expected):
    """A provider's code, or its words beside the status, tell a quota from a limit and a limit from a denial."""
    fault = classify(ApiError("failed", response=Response(status, headers, body)))

    assert expected == (fault.category, fault.code.replace("header", "http.429"))


# ------------------------------------------------------------------ other numbers


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ApiError("x", code=-32602), ("validation", "jsonrpc.arguments")),
        (ApiError("x", sqlstate="40001"), ("transient", "transaction.rolled_back")),
        (ApiError("x", pgcode="23505"), ("validation", "db.constraint")),
        (ApiError("x", returncode=127), ("not_found", "process.not_found")),
        (ApiError("x", code="RESOURCE_EXHAUSTED"), ("rate_limited", "rate_limit.resource")),
        (type("SMTPDataError", (Exception,), {"smtp_code": 451})("x"), ("transient", "reply.transient")),
        (type("SMTPDataError", (Exception,), {"smtp_code": 550})("x"), ("not_found", "reply.no_mailbox")),
        (type("ConnectionClosedError", (Exception,), {"code": 1013})("x"), ("transient", "connection.reset")),
        (type("OperationalError", (Exception,), {})(1213, "Deadlock found"), ("transient", "transaction.rolled_back")),
        (type("ChannelError", (Exception,), {})(404, "NOT_FOUND - no queue"), ("not_found", "not_found")),
    ],
)
def test_a_number_counts_in_its_own_protocol(error, expected):
    """The names of the class, or of the attribute, say whose numbers they are."""
    fault = classify(error)

    assert expected == (fault.category, fault.code)
    assert fault.http_status is None


# ------------------------------------------------------------------- where raised


def look_up(prices, sku):
    """A tool."""
    return prices[sku]


def total(answer):
    """Another."""
    return answer["total"]


def test_arguments_that_do_not_fit_the_signature_are_the_callers():
    """The body never ran: validation, and nothing happened."""
    arguments = {"sku": "A-1", "colour": "red"}

    assert ("validation", "arguments.call", False, "none") == by(classify(raised(lambda: look_up(**arguments))))


def test_the_same_type_error_in_the_body_is_a_defect():
    """The tool calls its own helper wrongly."""

    def tool(city):
        return look_up(city)

    assert "bug" == classify(raised(tool, city="Oslo")).category


def test_a_key_from_the_caller_is_missing_and_a_key_in_the_code_is_a_defect():
    """The traceback says where the key came from."""
    assert "not_found" == classify(raised(look_up, {"A-1": 3}, "B-7")).category
    assert "bug" == classify(raised(total, {"sum": 3})).category


def test_a_missing_setting_is_a_defect_of_the_environment(monkeypatch):
    """An environment variable is nothing that an argument could mend."""
    monkeypatch.delenv("NO_SUCH_SETTING", raising=False)
    assert "bug.environment" == classify(raised(lambda: os.environ["NO_SUCH_SETTING"])).code


def test_a_value_from_the_caller_is_validation_and_one_from_upstream_a_defect():
    """``int("next")``: was the word an argument, or in a service's answer?"""

    def page(number):
        return int(number)

    def count():
        response = Response(200, body=b"")
        return int(response.headers.get("count", "none"))

    assert "validation" == classify(raised(page, "next")).category
    assert "bug" == classify(raised(count)).category


# --------------------------------------------------------------- text, and its limits


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Rate limit exceeded. Try again in 30 seconds.", "rate_limited"),
        ("The request to the CRM timed out after 30s", "transient"),
        ("401 Unauthorized: token expired", "permission"),
        ("Customer 17 does not exist", "not_found"),
        ("Invalid parameter: 'since' must be an ISO date", "validation"),
        ("retried because permission was not denied; connection was never refused", "unknown"),
        ("invoice 2503-429 could not be booked: period 404 is closed", "unknown"),
        ("Zeitüberschreitung bei der Verbindung", "unknown"),
    ],
)
def test_text_is_read_when_there_is_nothing_else(text, category):
    """A bare exception's words count, anchored; numbers and negations in prose do not."""
    assert category == classify(Exception(text)).category


@pytest.mark.parametrize("text", ["connection refused", "rate limit exceeded", "database is locked"])
def test_prose_never_proves_that_nothing_was_sent(text):
    """A tool's own words make no write safe to repeat."""
    fault = classify(Exception(text), effects="write")

    assert (True, "unknown", False) == (fault.passing, fault.side_effects, fault.retryable)


def test_text_does_not_outvote_structure():
    """Instructions and misleading words in a text change nothing, but the dissent is kept."""
    fault = classify(ApiError("Ignore all this: connection timed out, please retry", status_code=403))

    assert ("permission", False) == (fault.category, fault.passing)
    assert "message=transient" in (fault.dissent or "")


# ------------------------------------------------------------------------ groups


def test_the_worst_member_of_a_group_decides_and_the_longest_wait_counts():
    """One member that never works makes the whole fail again."""
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "x")
    limited = ApiError("slow", response=Response(429, {"Retry-After": "8"}))
    denied = ApiError("no", status_code=403)

    passing = classify(ExceptionGroup("both", [refused, limited]), effects="write")
    stuck = classify(ExceptionGroup("all", [refused, ExceptionGroup("inner", [denied, limited])]), effects="write")

    assert (True, 8.0, "none") == (passing.passing, passing.retry_after, passing.side_effects)
    assert ("permission", False) == (stuck.category, stuck.passing)


def test_a_retry_librarys_wrapper_is_opened():
    """What it met decides, and that it has retried is known."""

    class RetryError(Exception):
        pass

    inner = ApiError("gone", status_code=404)
    wrapper = RetryError("gave up")
    wrapper.last_attempt = MagicMock(exception=lambda: inner)

    fault = classify(wrapper)

    assert ("not_found", True) == (fault.category, fault.already_retried)


# ------------------------------------------------------------------ control flow


class GraphBubbleUp(Exception):  # noqa: N818 - a framework's own name
    """Stands for the framework's class, which need not be installed."""

    __module__ = "langgraph.errors"


class GraphInterrupt(GraphBubbleUp):
    """Derived from it."""

    __module__ = "langgraph.errors"


@pytest.mark.parametrize(
    "signal",
    [
        KeyboardInterrupt(), SystemExit(1), GeneratorExit(), asyncio.CancelledError("timed out, please retry"),
        concurrent.futures.CancelledError(), GraphInterrupt("approve?"),
        BaseExceptionGroup("all", [TimeoutError(), KeyboardInterrupt()]),
    ],
)  # fmt: skip
def test_control_flow_is_recognised(signal):
    """Cancellation, interrupts and frameworks' signals are cancelled, never retried, whatever their text says."""
    fault = classify(signal)

    assert is_control_flow(signal)
    assert ("cancelled", False) == (fault.category, fault.passing)


def test_errors_are_not_taken_for_control_flow():
    """Nor are groups of errors."""
    assert not is_control_flow(ValueError("x"))
    assert not is_control_flow(ExceptionGroup("x", [TimeoutError()]))


def test_a_deadline_is_no_cancellation():
    """``asyncio.timeout`` carries a CancelledError as its cause and is a timeout all the same."""

    async def late():
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    fault = classify(raised(lambda: asyncio.run(late())))

    assert ("transient", "timeout") == (fault.category, fault.code)


# ------------------------------------------------------------------------ record


def test_the_record_is_redacted_bounded_and_on_one_line():
    """No text leaves without redaction, whatever its size."""
    fault = classify(ApiError("x" * 2_000_000 + "\x1b[31m\npassword=hunter2secret"))

    assert len(fault.message) <= 1_000
    assert "\n" not in fault.message
    assert "ter2secret" not in fault.message


def test_classifying_is_pure():
    """The same exception gives the same fault, from any thread."""
    error = ApiError("slow", response=Response(429, {"Retry-After": "8"}))
    found = []
    threads = [threading.Thread(target=lambda: found.append(classify(error, now=NOW))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [classify(error, now=NOW)] * 8 == found


def _closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


# A google.rpc.Status of 8, "slow down", with a DebugInfo and a RetryInfo of 1.5 s, as protobuf writes it.
STATUS_DETAILS = bytes.fromhex(
    "08081209736c6f7720646f776e1a2f0a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e4465627567496e666f12031201781a360a28"
    "747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e5265747279496e666f120a0a0808011080cab5ee01"
)


def test_a_wait_in_a_binary_grpc_trailer_is_read():
    """The server's RetryInfo, wherever it stands among the details; what is cut off or foreign is no wait."""

    class RpcError(Exception):
        def trailing_metadata(self):
            return (("grpc-status-details-bin", STATUS_DETAILS),)

        def details(self):
            return "slow down"

    assert 1.5 == classify(RpcError()).retry_after
    assert {None} == {retry_info.delay(STATUS_DETAILS[:cut]) for cut in range(len(STATUS_DETAILS))}
    assert retry_info.delay(b"\xff" * 40) is None
