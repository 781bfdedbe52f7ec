from otel_toolerrors.integrations import anthropic as messages_api, openai_chat, openai_responses
from otel_toolerrors.testing import Bench


def _bench():
    bench = Bench()
    bench.tool("search", "found it", effects="read")
    return bench


def test_arguments_that_are_not_json_are_the_models_to_correct():
    """What cannot be read is a validation error with no side effects; the tool is not called."""
    bench = Bench()
    tool = bench.tool("pay", "paid")
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": '}},
        {"id": "c2", "type": "function", "function": {"name": "pay", "arguments": "[5]"}},
    ]

    with bench.layer.run() as run:
        answers = openai_chat.answer(run, {"role": "assistant", "tool_calls": calls})

    assert [] == tool.calls
    assert "validation" in answers[0]["content"]
    assert "not JSON" in answers[0]["content"]
    assert "must be a JSON object" in answers[1]["content"]
    assert "not known whether" not in answers[0]["content"]


def test_custom_tools_take_text():
    """OpenAI's custom tools get what the model wrote, and are answered in their own form."""
    bench = Bench()
    tool = bench.tool("shell", "listing", effects="read")
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "ls"}
    call = {"id": "c2", "type": "custom", "custom": {"name": "shell", "input": "ls"}}

    with bench.layer.run() as run:
        answer = openai_responses.answer(run, [item])
        assert {"role": "tool", "tool_call_id": "c2", "content": "listing"} == openai_chat.answer(
            run, {"role": "assistant", "tool_calls": [call]}
        )[0]

    assert [{"type": "custom_tool_call_output", "call_id": "c1", "output": "listing"}] == answer
    assert [{"input": "ls"}, {"input": "ls"}] == tool.calls


def test_content_blocks_go_as_they_are():
    """A tool that returns an image in Anthropic's form is not turned into text."""
    bench = Bench()
    image = [{"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}]
    bench.tool("look", image, effects="read")

    with bench.layer.run() as run:
        block = messages_api.tool_result(run.call("look", call_id="c1"))

    assert {"type": "tool_result", "tool_use_id": "c1", "content": image} == block


def test_complete_answers_what_was_left_open_where_it_belongs():
    """Finished calls keep their results, others say that they were cancelled; what is complete stays as it is."""
    bench = _bench()
    asked = [{"type": "tool_use", "id": name, "name": "search", "input": {}} for name in ("c1", "c2")]
    history = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": asked},
        {"role": "user", "content": "go on"},
    ]

    with bench.layer.run() as run:
        run.call("search", call_id="c1")
        whole = messages_api.complete(run, history)
        assert whole == messages_api.complete(run, whole)

    results = [(block["tool_use_id"], block["content"]) for block in whole[2]["content"]]
    assert [("c1", "found it"), ("c2", "Operation cancelled.")] == results
    assert history == [*whole[:2], whole[3]]


def test_complete_of_response_items():
    """The answer stands before the user speaks again."""
    bench = _bench()
    call = {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
    said = {"role": "user", "content": "go on"}

    with bench.layer.run() as run:
        whole = openai_responses.complete(run, [call, said])

    assert [call, {"type": "function_call_output", "call_id": "c1", "output": "Operation cancelled."}, said] == whole
