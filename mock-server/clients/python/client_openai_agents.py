"""The OpenAI Agents library for Python: Responses over HTTP and WebSocket, Chat Completions."""

import asyncio

import agents
import openai
from openai import AsyncOpenAI

from checks import (CUT, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, equal, is_cut, raised, run,
                    weather)

agents.set_tracing_disabled(True)


@agents.function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return weather(city)


def agent(tools=()):
    return agents.Agent(name="Weather", instructions="Be brief.", model=MODEL, tools=list(tools))


class Wire:
    """The checks over one wire."""

    def __init__(self, **provider):
        self.provider = provider

    async def _run(self, url, tools, streamed, texts):
        socket = url.replace("http://", "ws://")
        client = AsyncOpenAI(base_url=f"{url}/v1", websocket_base_url=f"{socket}/v1")
        provider = agents.OpenAIProvider(openai_client=client, **self.provider)
        config = agents.RunConfig(model_provider=provider, tracing_disabled=True)
        try:
            if not streamed:
                return await agents.Runner.run(agent(tools), "Hello", run_config=config)
            result = agents.Runner.run_streamed(agent(tools), "Hello", run_config=config)
            async for event in result.stream_events():
                if event.type == "raw_response_event":
                    if event.data.type == "response.output_text.delta":
                        texts.append(event.data.delta)
            return result
        finally:
            await provider.aclose()
            await client.close()

    def run(self, url, tools=(), streamed=False, texts=None):
        return asyncio.run(self._run(url, tools, streamed, [] if texts is None else texts))

    def text(self, url):
        result = self.run(url)
        equal(result.final_output, TEXT)
        usage = result.raw_responses[0].usage
        equal((usage.input_tokens, usage.output_tokens, usage.total_tokens), (21, 13, 34))
        equal(usage.input_tokens_details.cached_tokens, 5)

    def stream(self, url):
        texts = []
        equal(self.run(url, streamed=True, texts=texts).final_output, STREAMED)
        equal("".join(texts), STREAMED)
        assert len(texts) > 3, texts

    def tools(self, url):
        result = self.run(url, tools=[get_weather])
        equal(result.final_output, TOOLS_DONE)
        outputs = [i.output for i in result.new_items if isinstance(i, agents.ToolCallOutputItem)]
        equal(outputs, ["sunny in Paris", "rainy in Köln"])

    def error(self, url):
        failure = raised(openai.BadRequestError, lambda: self.run(url))
        equal((failure.status_code, failure.type), (400, "invalid_request_error"))
        equal((failure.code, failure.param), ("unsupported_value", "temperature"))
        equal(failure.body["message"], ERROR)

    def retry(self, url):
        equal(self.run(url).final_output, RETRIED)

    def cut(self, url):
        texts = []
        raised(Exception, lambda: self.run(url, streamed=True, texts=texts))
        is_cut("".join(texts))

    def socket_cut(self, url):
        """After the cut the next run, on a new connection, gets the whole answer."""
        self.cut(url)
        equal(self.run(url).final_output, CUT)

    def checks(self, wire, names):
        return {f"{wire}.{name}": getattr(self, name) for name in names}


ALL = ["text", "stream", "tools", "error", "retry", "cut"]
SOCKET = Wire(use_responses_websocket=True)
run({
    **Wire(use_responses=True).checks("responses", ALL),
    **Wire(use_responses=False).checks("chat", ALL),
    **SOCKET.checks("socket", ["text", "stream", "tools"]),
    "socket.cut": SOCKET.socket_cut,
})
