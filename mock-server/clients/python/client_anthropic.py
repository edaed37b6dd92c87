"""The Anthropic library for Python: Messages."""

import anthropic

from checks import (CITY, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, equal, is_cut, raised,
                    run, weather)

ASK = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": "Hello"}]}


def client(url):
    return anthropic.Anthropic(base_url=url)


def text(url):
    api = client(url)
    message = api.messages.create(**ASK, system="Be brief.")
    equal([block.type for block in message.content], ["text"])
    equal((message.content[0].text, message.stop_reason), (TEXT, "end_turn"))
    equal((message.role, message.model), ("assistant", MODEL))
    usage = message.usage
    # What came from the cache is not part of the input tokens here.
    equal((usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens), (16, 5, 13))
    counted = api.messages.count_tokens(model=MODEL, messages=ASK["messages"])
    assert counted.input_tokens > 0
    equal([model.id for model in api.models.list()], [MODEL])


def stream(url):
    with client(url).messages.stream(**ASK) as stream:
        deltas = list(stream.text_stream)
        final = stream.get_final_message()
    equal(("".join(deltas), final.content[0].text), (STREAMED, STREAMED))
    assert len(deltas) > 3, deltas
    equal((final.stop_reason, final.usage.output_tokens), ("end_turn", 34))


def tools(url):
    tools = [{"name": "get_weather", "description": "The weather", "input_schema": CITY}]
    messages = list(ASK["messages"])
    api = client(url)
    with api.messages.stream(model=MODEL, max_tokens=1000, messages=messages, tools=tools) as stream:
        first = stream.get_final_message()
    equal(first.stop_reason, "tool_use")
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": weather(**block.input)}
        for block in first.content
        if block.type == "tool_use"
    ]
    equal(len(results), 2)
    messages.append({"role": "assistant", "content": first.content})
    messages.append({"role": "user", "content": results})
    second = api.messages.create(model=MODEL, max_tokens=1000, messages=messages, tools=tools)
    equal(second.content[0].text, TOOLS_DONE)


def error(url):
    failure = raised(anthropic.BadRequestError, lambda: client(url).messages.create(**ASK))
    equal((failure.status_code, failure.type), (400, "invalid_request_error"))
    equal((failure.body["type"], failure.body["error"]["message"]), ("error", ERROR))


def retry(url):
    equal(client(url).messages.create(**ASK).content[0].text, RETRIED)


def cut(url):
    texts = []

    def read():
        for event in client(url).messages.create(**ASK, stream=True):
            assert event.type != "message_stop"
            if event.type == "content_block_delta":
                texts.append(event.delta.text)

    raised(Exception, read)
    is_cut("".join(texts))


run({
    "messages.text": text,
    "messages.stream": stream,
    "messages.tools": tools,
    "messages.error": error,
    "messages.retry": retry,
    "messages.cut": cut,
})
