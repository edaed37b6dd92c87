"""The OpenAI library for Python: Responses and Chat Completions over HTTP."""

import json

import openai

from checks import (CITY, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, equal, is_cut, raised,
                    run, weather)


def client(url):
    return openai.OpenAI(base_url=f"{url}/v1")


def responses_text(url):
    api = client(url)
    response = api.responses.create(
        model=MODEL, instructions="Be brief.", input="Hello", temperature=0.5, metadata={"a": "b"}
    )
    equal(response.output_text, TEXT)
    equal((response.status, response.error, response.incomplete_details), ("completed", None, None))
    equal((response.model, response.instructions), (MODEL, "Be brief."))
    equal((response.temperature, response.metadata), (0.5, {"a": "b"}))
    usage = response.usage
    equal((usage.input_tokens, usage.output_tokens, usage.total_tokens), (21, 13, 34))
    equal(usage.input_tokens_details.cached_tokens, 5)
    assert response.id.startswith("resp_") and response.output[0].id.startswith("msg_")
    equal([model.id for model in api.models.list()], [MODEL])


def responses_stream(url):
    with client(url).responses.stream(model=MODEL, input="Hello") as stream:
        events = list(stream)
        final = stream.get_final_response()
    equal(final.output_text, STREAMED)
    equal([event.sequence_number for event in events], list(range(len(events))))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    equal("".join(deltas), STREAMED)
    assert len(deltas) > 3, deltas
    equal((events[0].type, events[-1].type), ("response.created", "response.completed"))
    equal(events[-1].response.usage.total_tokens, 55)


def responses_tools(url):
    tools = [{"type": "function", "name": "get_weather", "parameters": CITY, "strict": True}]
    history = [{"role": "user", "content": "How is the weather?"}]
    api = client(url)
    first = api.responses.create(model=MODEL, input=history, tools=tools)
    calls = [item for item in first.output if item.type == "function_call"]
    equal([call.call_id for call in calls], ["call_paris", "call_koeln"])
    history += [item.model_dump(exclude_none=True) for item in first.output]
    for call in calls:
        output = weather(**json.loads(call.arguments))
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    with api.responses.stream(model=MODEL, input=history, tools=tools) as stream:
        equal(stream.get_final_response().output_text, TOOLS_DONE)


def refused(error):
    equal((error.status_code, error.type), (400, "invalid_request_error"))
    equal((error.code, error.param, error.body["message"]), ("unsupported_value", "temperature", ERROR))


def responses_error(url):
    action = lambda: client(url).responses.create(model=MODEL, input="Hello", temperature=9)
    refused(raised(openai.BadRequestError, action))


def responses_retry(url):
    equal(client(url).responses.create(model=MODEL, input="Hello").output_text, RETRIED)


def responses_cut(url):
    texts = []

    def read():
        for event in client(url).responses.create(model=MODEL, input="Hello", stream=True):
            assert event.type != "response.completed"
            if event.type == "response.output_text.delta":
                texts.append(event.delta)

    raised(Exception, read)
    is_cut("".join(texts))


def hello(text="Hello"):
    return [{"role": "user", "content": text}]


def chat_text(url):
    completion = client(url).chat.completions.create(model=MODEL, messages=hello())
    choice = completion.choices[0]
    equal((choice.message.content, choice.finish_reason), (TEXT, "stop"))
    usage = completion.usage
    equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (21, 13, 34))
    equal(usage.prompt_tokens_details.cached_tokens, 5)


def chat_stream(url):
    options = {"include_usage": True}
    with client(url).chat.completions.stream(
        model=MODEL, messages=hello(), stream_options=options
    ) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    equal(("".join(deltas), final.choices[0].message.content), (STREAMED, STREAMED))
    assert len(deltas) > 3, deltas
    equal((final.choices[0].finish_reason, final.usage.total_tokens), ("stop", 55))


def chat_tools(url):
    function = {"name": "get_weather", "parameters": CITY, "strict": True}
    tools = [{"type": "function", "function": function}]
    messages = hello("How is the weather?")
    api = client(url)
    with api.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
        choice = stream.get_final_completion().choices[0]
    equal(choice.finish_reason, "tool_calls")
    messages.append(choice.message.model_dump(exclude_none=True))
    for call in choice.message.tool_calls:
        output = weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
    second = api.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    equal(second.choices[0].message.content, TOOLS_DONE)


def chat_error(url):
    action = lambda: client(url).chat.completions.create(
        model=MODEL, messages=hello(), temperature=9
    )
    refused(raised(openai.BadRequestError, action))


def chat_retry(url):
    completion = client(url).chat.completions.create(model=MODEL, messages=hello())
    equal(completion.choices[0].message.content, RETRIED)


def chat_cut(url):
    texts = []

    def read():
        create = client(url).chat.completions.create
        for chunk in create(model=MODEL, messages=hello(), stream=True):
            assert chunk.choices[0].finish_reason is None
            texts.append(chunk.choices[0].delta.content or "")

    raised(Exception, read)
    is_cut("".join(texts))


run({
    "responses.text": responses_text,
    "responses.stream": responses_stream,
    "responses.tools": responses_tools,
    "responses.error": responses_error,
    "responses.retry": responses_retry,
    "responses.cut": responses_cut,
    "chat.text": chat_text,
    "chat.stream": chat_stream,
    "chat.tools": chat_tools,
    "chat.error": chat_error,
    "chat.retry": chat_retry,
    "chat.cut": chat_cut,
})
