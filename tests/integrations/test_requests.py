"""Model requests of the real SDK clients, against a local server that speaks each wire form."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from otel_toolerrors import Policy
from otel_toolerrors.integrations import (
    anthropic as messages_api,
    openai_chat,
    openai_responses,
)
from otel_toolerrors.layer.model import ModelUnavailable
from otel_toolerrors.testing import Bench, steady
from otel_toolerrors.vocabulary import ContextOverflowed, FaultClassified, ModelSwitched, RetryScheduled, WaitHeartbeat
from tests.integrations.wire import Outage, serving

anthropic = pytest.importorskip("anthropic", reason="drives the real client")
openai = pytest.importorskip("openai", reason="drives the real client")

SAID = [{"role": "user", "content": "go"}]


def _runner(client, **request):
    return client.beta.messages.tool_runner(messages=SAID, tools=[], thread=False, **request).until_done()


_CLIENTS = {False: anthropic.Anthropic, True: anthropic.AsyncAnthropic}
_ANTHROPIC = (
    messages_api,
    _CLIENTS,
    "max_tokens",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
)
_OVERFLOW = (
    "This model's maximum context length is 200000 tokens. However, you requested 209573 tokens "
    "(188240 in the messages, 21333 in the completion). Please reduce the length of the messages or completion."
)
_OPENAI = {False: openai.OpenAI, True: openai.AsyncOpenAI}
_WAYS = {
    "messages": (lambda client, **request: client.messages.create(messages=SAID, **request), *_ANTHROPIC),
    "runner": (_runner, *_ANTHROPIC),
    "chat": (
        lambda client, **request: client.chat.completions.create(messages=SAID, **request),
        openai_chat,
        _OPENAI,
        "max_completion_tokens",
        _OVERFLOW,
    ),
    "responses": (
        lambda client, **request: client.responses.create(input=SAID, **request),
        openai_responses,
        _OPENAI,
        "max_output_tokens",
        _OVERFLOW,
    ),
}


@dataclass(frozen=True)
class Way:
    """One way to ask a model: an API of a provider, sync or async."""

    send: Callable[..., Any]
    recovery: Any
    clients: dict[bool, Any]
    limit: str
    overflow: str
    asynchronous: bool

    def ask(self, bench, provider, *others, **request):
        """Send a request in a run of its own; a stream is read to its end."""

        async def converse():
            bare = self.clients[self.asynchronous](api_key="k", base_url=provider.url)
            try:
                with bench.layer.run() as run:
                    client = self.recovery.recovering(bare, run, *others)
                    answer = self.send(client, **{"model": "opus", self.limit: 21_333, **request})
                    answer = await answer if self.asynchronous else answer
                    if request.get("stream"):
                        return [event async for event in answer] if self.asynchronous else list(answer)
                    return answer
            finally:
                await bare.close() if self.asynchronous else bare.close()

        return asyncio.run(converse())


@pytest.fixture(params=[(name, kind) for name in _WAYS for kind in (False, True)],
                ids=[f"{name} {kind}" for name in _WAYS for kind in ("sync", "async")])  # fmt: skip
def way(request):
    """Each API, sync and async."""
    name, asynchronous = request.param
    return Way(*_WAYS[name], asynchronous)


def test_overflow_shrinks_the_output_to_what_fits(way):
    """The counts in the provider's message say how much is left; the second request asks for exactly that."""
    bench = Bench()
    with serving(["hello"]) as provider:
        provider.outages = [Outage(400, message=way.overflow)]
        way.ask(bench, provider)

    assert [21_333, 11_760] == [request[way.limit] for request in provider.requests]
    assert 11_760 == bench.of(ContextOverflowed)[0].max_tokens


def test_repeated_overloads_switch_the_model_and_later_back(way):
    """The third 529 in a row goes to the other model at once; after five minutes the first one is asked again."""
    bench = Bench(steady(max_attempts=10))
    with serving(["one", "two", "three"]) as provider:
        provider.outages = [Outage(529)] * 3
        way.ask(bench, provider, "sonnet")
        bench.clock.advance(299)
        way.ask(bench, provider, "sonnet")
        bench.clock.advance(1)
        way.ask(bench, provider, "sonnet")

    assert [*["opus"] * 3, "sonnet", "sonnet", "opus"] == [request["model"] for request in provider.requests]
    assert ["overloaded", "recovered"] == [switch.reason for switch in bench.of(ModelSwitched)]
    assert [0.5, 1.0] == bench.clock.slept


def test_retry_after_is_honoured_and_retries_do_not_multiply(way):
    """The wait is the provider's, and a request that fails for good is sent three times, not nine."""
    bench = Bench()
    with serving(["hello"]) as provider:
        provider.outages = [Outage(429, {"retry-after": "7"})]
        way.ask(bench, provider)
        assert [7.0] == bench.clock.slept
        provider.outages, provider.requests = [Outage(500)] * 9, []
        with pytest.raises((anthropic.InternalServerError, openai.InternalServerError)):
            way.ask(bench, provider)

    assert 3 == len(provider.requests)


def test_unattended_request_waits_with_heartbeats(way):
    """Without an attempt limit, a long wait says every half minute that it goes on."""
    bench = Bench(steady(persistent=True))
    with serving(["hello"]) as provider:
        provider.outages = [Outage(529, {"retry-after": "90"})] * 4
        way.ask(bench, provider)

    assert 360.0 == sum(bench.clock.slept)
    assert 8 == len(bench.of(WaitHeartbeat))


def test_other_errors_come_out_at_once(way):
    """A bad request is the caller's to correct: the SDK's own exception is raised."""
    bench = Bench()
    with serving([]) as provider:
        provider.outages = [Outage(400, message="messages: at least one message is required")]
        with pytest.raises((anthropic.BadRequestError, openai.BadRequestError), match="at least one message"):
            way.ask(bench, provider, "sonnet")

    assert 1 == len(provider.requests)


STREAMS = [name for name in _WAYS if name != "runner"]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_stream_is_recovered_until_it_begins(name, asynchronous):
    """Before the first byte a stream is asked for again; what breaks off later is raised, and not repeated."""
    bench = Bench()
    with serving([]) as provider:
        provider.outages = [Outage(529)]
        try:
            events = Way(*_WAYS[name], asynchronous).ask(bench, provider, stream=True)
        except (anthropic.APIError, openai.APIError) as error:
            said = error.message
        else:
            said = events[-1].message  # the Responses API tells of an error in an event

    assert "Overloaded" in said
    assert 2 == len(provider.requests)
    assert 1 == len(bench.of(RetryScheduled))


_ASKED = {"model": "opus", "max_tokens": 9, "messages": SAID}
_METHODS = {
    "messages.parse": (_CLIENTS, lambda client: client.messages.parse(**_ASKED)),
    "messages.stream": (_CLIENTS, lambda client: client.messages.stream(**_ASKED)),
    "messages raw": (_CLIENTS, lambda client: client.messages.with_raw_response.create(**_ASKED)),
    "completions.parse": (_OPENAI, lambda client: client.chat.completions.parse(model="opus", messages=SAID)),
    "completions.stream": (_OPENAI, lambda client: client.chat.completions.stream(model="opus", messages=SAID)),
    "responses.parse": (_OPENAI, lambda client: client.responses.parse(model="opus", input=SAID)),
    "responses.stream": (_OPENAI, lambda client: client.responses.stream(model="opus", input=SAID)),
}


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_every_method_of_the_client_recovers(method, asynchronous):
    """Whichever way a request is made, it is the run that sends it again."""
    bench = Bench()
    clients, send = _METHODS[method]

    async def converse(provider):
        bare = clients[asynchronous](api_key="k", base_url=provider.url)
        try:
            with bench.layer.run() as run:
                asked = send(messages_api.recovering(bare, run))
                if not method.endswith("stream"):
                    await asked if asynchronous else asked
                elif asynchronous:
                    async with asked:
                        pass
                else:
                    with asked:
                        pass
        finally:
            await bare.close() if asynchronous else bare.close()

    with serving(["hello"]) as provider:
        provider.outages = [Outage(529)]
        asyncio.run(converse(provider))

    assert ["opus", "opus"] == [request["model"] for request in provider.requests]
    assert 1 == len(bench.of(RetryScheduled))


@pytest.fixture
def provider():
    """Says hello."""
    with serving(["hello"]) as provider:
        yield provider


@pytest.fixture
def client(provider):
    """Anthropic's client, as its user made it."""
    with anthropic.Anthropic(api_key="k", base_url=provider.url) as client:
        yield client


def test_thinking_shrinks_with_the_output(client, provider):
    """Thinking is part of the output, and the API wants its budget to be smaller."""
    provider.outages = [Outage(400, message=_ANTHROPIC[-1])]
    thinking = {"type": "enabled", "budget_tokens": 16_000}
    with Bench().layer.run() as run:
        ask = messages_api.recovering(client, run).messages.create
        ask(model="opus", max_tokens=21_333, messages=SAID, thinking=thinking)

    assert [16_000, 5_880] == [request["thinking"]["budget_tokens"] for request in provider.requests]


def test_a_stopped_run_asks_no_model(client, provider):
    """After a stop no request is sent."""
    with Bench().layer.run() as run:
        run.stop()
        with pytest.raises(ModelUnavailable, match="the run has stopped"):
            messages_api.recovering(client, run).messages.create(model="opus", max_tokens=9, messages=SAID)

    assert [] == provider.requests


def test_other_requests_are_left_alone(client, provider):
    """What is no model request goes to the client as it was made."""
    bench = Bench()
    provider.outages = [Outage(400)]
    with bench.layer.run() as run, pytest.raises(anthropic.BadRequestError):
        messages_api.recovering(client, run).messages.count_tokens(model="opus", messages=SAID)

    assert [] == bench.of(FaultClassified)


def test_observing_changes_nothing(client):
    """With an observing policy the client is the user's own, and so are its retries."""
    with Bench(Policy(mode="observe")).layer.run() as run:
        assert client is messages_api.recovering(client, run)
