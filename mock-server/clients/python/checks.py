"""What the scripts of all clients share: the texts of the scripts and the loop over the checks.

A script is called with arguments of the form NAME=URL: a check, and the root address of a server
that plays the check's script. It prints `ok NAME` for each check that holds, and stops with a
traceback and a status other than 0 at the first that does not.
"""

import sys

MODEL = "mock-model"
TEXT = "Grüße aus Köln ☕ – und 🦀 auch."
STREAMED = (
    "Der Zug fährt über die Brücke ☕ und 🦀 sieht ihm nach; "
    "one, two, three, four, five, six, seven, eight."
)
TOOLS_DONE = "Sun in Paris, rain in Köln."
RETRIED = "It worked at last."
ERROR = "'temperature' cannot be 9 with this model."
CUT = (
    "Half of this text never arrives, for the connection closes; "
    "one, two, three, four, five, six, seven."
)
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def weather(city):
    """The tool that the scripts call."""
    return {"Paris": "sunny in Paris", "Köln": "rainy in Köln"}[city]


def equal(seen, wanted):
    assert seen == wanted, f"{seen!r} is not {wanted!r}"


def is_cut(text):
    """Holds for what is left of the text whose answer is cut off."""
    assert CUT.startswith(text) and 0 < len(text) < len(CUT), f"{text!r} is no part of the text"


def raised(kinds, action):
    """The exception of one of these kinds that the action must raise."""
    try:
        result = action()
    except kinds as error:
        return error
    raise AssertionError(f"nothing was raised, it gave {result!r}")


def run(checks):
    for argument in sys.argv[1:]:
        name, url = argument.split("=", 1)
        checks[name](url)
        print(f"ok {name}", flush=True)
