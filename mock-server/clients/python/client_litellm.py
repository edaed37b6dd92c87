"""LiteLLM: the OpenAI and Anthropic providers."""

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Otherwise it is fetched from elsewhere.

import litellm

from checks import (CITY, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, equal, is_cut, raised,
                    run, weather)

litellm.suppress_debug_info = True
HELLO = [{"role": "user", "content": "Hello"}]
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": CITY}}]


class Provider:
    """The checks with one provider of LiteLLM."""

    def __init__(self, prefix, path):
        self.model, self.path = f"{prefix}/{MODEL}", path

    def ask(self, url, messages=HELLO, **more):
        base = f"{url}{self.path}"
        return litellm.completion(
            model=self.model, api_base=base, api_key="fake", messages=messages, **more
        )

    def text(self, url):
        completion = self.ask(url)
        choice = completion.choices[0]
        equal((choice.message.content, choice.finish_reason), (TEXT, "stop"))
        usage = completion.usage
        equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (21, 13, 34))
        equal(usage.prompt_tokens_details.cached_tokens, 5)

    def stream(self, url):
        chunks = list(self.ask(url, stream=True, stream_options={"include_usage": True}))
        deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
        deltas = [delta for delta in deltas if delta]
        equal("".join(deltas), STREAMED)
        assert len(deltas) > 3, deltas
        whole = litellm.stream_chunk_builder(chunks)
        equal((whole.choices[0].message.content, whole.usage.total_tokens), (STREAMED, 55))

    def tools(self, url):
        messages = list(HELLO)
        chunks = list(self.ask(url, messages, tools=TOOLS, stream=True))
        choice = litellm.stream_chunk_builder(chunks).choices[0]
        equal(choice.finish_reason, "tool_calls")
        messages.append(choice.message.model_dump(exclude_none=True))
        for call in choice.message.tool_calls:
            output = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
        second = self.ask(url, messages, tools=TOOLS)
        equal(second.choices[0].message.content, TOOLS_DONE)

    def error(self, url):
        failure = raised(litellm.BadRequestError, lambda: self.ask(url))
        equal(failure.status_code, 400)
        assert ERROR in str(failure), failure

    def retry(self, url):
        equal(self.ask(url, num_retries=2).choices[0].message.content, RETRIED)

    def cut(self, url):
        texts = []

        def read():
            for chunk in self.ask(url, stream=True):
                texts.append(chunk.choices[0].delta.content or "")

        raised(Exception, read)
        is_cut("".join(texts))

    def checks(self, wire):
        names = ["text", "stream", "tools", "error", "retry", "cut"]
        return {f"{wire}.{name}": getattr(self, name) for name in names}


def responses_text(url):
    ask = {"model": f"openai/{MODEL}", "api_base": f"{url}/v1", "api_key": "fake"}
    response = litellm.responses(**ask, input="Hello")
    equal(response.output[0].content[0].text, TEXT)
    equal((response.status, response.usage.total_tokens), ("completed", 34))


run({
    **Provider("openai", "/v1").checks("chat"),
    **Provider("anthropic", "").checks("messages"),
    "responses.text": responses_text,
})
