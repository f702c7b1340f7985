"""websockets, unmodified: calls the line in its own messages and as a voice agent behind ConversationRelay does."""

import json

import requests
from expectations import credentials, expect, refusal, run
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

KNOWN = credentials()
HEADERS = {"Authorization": f"Bearer {KNOWN['key']}"}


def call(address=None, protocol=None):
    return connect(
        address or KNOWN["ws_url"], additional_headers=HEADERS, subprotocols=[protocol] if protocol else None, open_timeout=120
    )


def heard(line):
    return json.loads(line.recv(timeout=120))


def a_call_in_the_streams_own_messages():
    with call(protocol="verial.voice.v1") as line:
        expect("the subprotocol", line.subprotocol, "verial.voice.v1")
        number = heard(line)["call"]["id"]
        expect("the menu", heard(line)["turn"]["text"].startswith("For eligibility"))
        for message, answers in [
            ({"say": "eligibility, please"}, ["Please say or enter the member number."]),
            ({"dtmf": "456#"}, ["I have 4 5 6. Is that right? Say yes or press 1, say no or press 2."]),
            ({"say": "yes"}, ["Please hold.", "This is Dana. How can I help?"]),
            ({"say": "What is the deductible?"}, ["The deductible of 456 is five hundred dollars."]),
        ]:
            line.send(json.dumps(message))
            expect("one's own turn", heard(line)["turn"]["speaker"], "agent")
            for answer in answers:
                expect("the answer", heard(line)["turn"]["text"], answer)
        line.send(json.dumps({"hangup": True}))
        expect("the end", heard(line)["type"], "ended")
    turns = requests.get(f"{KNOWN['calls_url']}/{number}/turns", headers=HEADERS, params={"limit": 100}).json()["data"]
    expect("the same call over REST", len(turns), 10)


def a_voice_agent_behind_a_relay():
    """An agent as they are written for the relay: it answers `prompt`s with tokens, and knows nothing of this server."""
    said = {"For eligibility": "eligib|ility", "Please say": "it is four |fifty-six", "I have": "yes", "This is": "deductible?"}
    told = []
    with call(protocol="conversation-relay") as line:
        setup = heard(line)
        expect("the setup", (setup["type"], setup["to"], setup["direction"]), ("setup", KNOWN["phone_number"], "outbound"))
        while len(told) < 6:
            message = heard(line)
            told.append((message["type"], message["last"]))
            words = next((words for start, words in said.items() if message["voicePrompt"].startswith(start)), "")
            for token in words.split("|") if words else []:
                line.send(json.dumps({"type": "text", "token": token, "last": False}))
            if words:
                line.send(json.dumps({"type": "text", "token": "", "last": True}))
        expect("the answer of Dana", "five hundred dollars" in message["voicePrompt"])
        line.send(json.dumps({"type": "end", "handoffData": "{}"}))
        expect("the end", list(line), [])
    expect("only prompts", set(told), {("prompt", True)})
    state = requests.get(f"{KNOWN['calls_url']}/{setup['callSid']}", headers=HEADERS).json()
    expect("who ended it", (state["status"], state["ended_by"]), ("completed", "agent"))


def a_message_that_is_cut_off():
    with call(KNOWN["ws_url"] + "?protocol=conversation-relay") as line:
        heard(line)
        heard(line)
        line.send(json.dumps({"type": "sendDigits", "digits": "2"}))
        expect("the tone", heard(line)["voicePrompt"], "Leave a message after the tone.")
        line.send(json.dumps({"type": "text", "token": "one two three four five six", "last": True}))
        expect("the tape is full", heard(line)["utteranceUntilInterrupt"], "one two three four five")
        expect("the goodbye", heard(line)["voicePrompt"], "Goodbye.")
        expect("the line hangs up", list(line), [])
        expect("in order", line.close_code, 1000)


def refusals():
    error = refusal(InvalidStatus, connect, KNOWN["ws_url"], open_timeout=120)
    expect("no credential", error.response.status_code, 401)
    error = refusal(InvalidStatus, call, KNOWN["ws_url"].replace("/stream", "/calls/call_1/stream"))
    expect("no such call", error.response.status_code, 404)
    with call() as line:
        heard(line)
        heard(line)
        line.send("not JSON")
        expect("a fault is told", heard(line)["error"]["code"], "BAD_REQUEST")
        line.send(b"\x00\x01")
        expect("bytes are no words", heard(line)["error"]["code"], "BAD_REQUEST")
        line.send(json.dumps({"dtmf": "1"}))
        expect("the line goes on", heard(line)["turn"]["dtmf"], "1")


run("websockets", [a_call_in_the_streams_own_messages, a_voice_agent_behind_a_relay, a_message_that_is_cut_off, refusals])
