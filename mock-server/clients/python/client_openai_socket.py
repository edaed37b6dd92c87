"""The OpenAI library for Python: Responses over a WebSocket."""

import json

import openai
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from checks import (CITY, CUT, ERROR, MODEL, RETRIED, STREAMED, TEXT, TOOLS_DONE, equal, is_cut,
                    raised, run, weather)

ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


SMALL_WINDOWS = ClientPerMessageDeflateFactory(server_max_window_bits=9, client_max_window_bits=9)


def connect(url, **options):
    """A connection with compression, which the library does not offer by itself."""
    options = {"compression": "deflate", **options}
    socket = url.replace("http://", "ws://")
    api = openai.OpenAI(base_url=f"{url}/v1", websocket_base_url=f"{socket}/v1")
    return api.responses.connect(websocket_connection_options=options)


def agreed(connection):
    return [extension.name for extension in connection._connection.protocol.extensions]


def answer(connection, **request):
    """The events of one answer."""
    connection.response.create(model=MODEL, store=False, **request)
    events = []
    for event in connection:
        events.append(event)
        if event.type in ENDS:
            return events
    raise AssertionError(f"the connection ended after {[event.type for event in events]}")


def response(connection, **request):
    last = answer(connection, **request)[-1]
    equal(last.type, "response.completed")
    return last.response


def text(url):
    with connect(url, compression=None) as connection:
        equal(agreed(connection), [])
        done = response(connection, input="Hello")
    equal((done.output[0].content[0].text, done.status), (TEXT, "completed"))
    equal((done.usage.total_tokens, done.usage.input_tokens_details.cached_tokens), (34, 5))


def stream(url):
    with connect(url) as connection:
        equal(agreed(connection), ["permessage-deflate"])
        events = answer(connection, input="Hello")
    equal([event.sequence_number for event in events], list(range(len(events))))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    equal("".join(deltas), STREAMED)
    assert len(deltas) > 3, deltas


def tools(url):
    offered = [{"type": "function", "name": "get_weather", "parameters": CITY, "strict": True}]
    with connect(url, extensions=[SMALL_WINDOWS]) as connection:
        equal(agreed(connection), ["permessage-deflate"])
        # zlib on the library's side reads no more than this window.
        equal(connection._connection.protocol.extensions[0].remote_max_window_bits, 9)
        first = response(connection, input="How is the weather?", tools=offered)
        results = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": weather(**json.loads(call.arguments)),
            }
            for call in first.output
            if call.type == "function_call"
        ]
        # The connection remembers the rest.
        second = response(
            connection, previous_response_id=first.id, input=results, tools=offered
        )
    equal(second.output[0].content[0].text, TOOLS_DONE)
    equal(second.previous_response_id, first.id)


def error(url):
    with connect(url) as connection:
        failure = answer(connection, input="Hello", temperature=9)[-1]
        equal((failure.type, failure.status), ("error", 400))
        equal((failure.error.type, failure.error.code), ("invalid_request_error", "unsupported_value"))
        equal(failure.error.message, ERROR)
        equal(response(connection, input="Hello").output[0].content[0].text, RETRIED)


def lost(url):
    with connect(url) as connection:
        failure = answer(connection, input="Go on.", previous_response_id="resp_unknown")[-1]
        equal((failure.type, failure.status), ("error", 400))
        equal(failure.error.code, "previous_response_not_found")
        equal(response(connection, input="Hello").output[0].content[0].text, RETRIED)


def cut(url):
    texts = []

    def read():
        with connect(url) as connection:
            connection.response.create(model=MODEL, store=False, input="Hello")
            while True:
                event = connection.recv()
                assert event.type != "response.completed"
                if event.type == "response.output_text.delta":
                    texts.append(event.delta)

    closed = raised(Exception, read)
    assert "1011" in str(closed) and "restart" in str(closed), repr(closed)
    is_cut("".join(texts))
    with connect(url) as connection:
        equal(response(connection, input="Hello").output[0].content[0].text, CUT)


run({
    "socket.text": text,
    "socket.stream": stream,
    "socket.tools": tools,
    "socket.error": error,
    "socket.lost": lost,
    "socket.cut": cut,
})
