"""hl7apy, unmodified: builds messages, and validates what the interface answers and delivers against its own tables."""

import socket

import requests
from expectations import credentials, expect, run
from hl7apy.consts import VALIDATION_LEVEL
from hl7apy.core import Message
from hl7apy.parser import parse_message
from hl7apy.validation import Validator

KNOWN = credentials()
ADDRESS = KNOWN["mllp_host"], int(KNOWN["mllp_port"])


def update(control_id, version="2.5", event="A01"):
    message = Message("ADT_A01", version=version)
    message.msh.msh_3, message.msh.msh_4 = "APY", "CLINIC"
    message.msh.msh_5, message.msh.msh_6 = "LAB", "HOSP"
    message.msh.msh_7 = "20260401120000"
    message.msh.msh_9 = f"ADT^{event}" + ("^ADT_A01" if version >= "2.4" else "")
    message.msh.msh_10, message.msh.msh_11 = control_id, "P"
    message.evn.evn_2 = "20260401120000"
    message.pid.pid_3, message.pid.pid_5 = "77^^^MRN", "Doe^Ann"
    message.pv1.pv1_2 = "O"
    return message


def exchange(stream, frame):
    stream.sendall(frame.encode())
    received = b""
    while not received.endswith(b"\x1c\r"):
        piece = stream.recv(4096)
        assert piece, "the connection ended"
        received += piece
    return received.strip(b"\x0b\x1c\r").decode() + "\r"


def is_valid(text):
    parsed = parse_message(text, validation_level=VALIDATION_LEVEL.STRICT, find_groups=True)
    return Validator.validate(parsed)


def answers_are_valid():
    with socket.create_connection(ADDRESS, timeout=120) as stream:
        for version in ["2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7"]:
            control_id = f"A{version}"
            ack = exchange(stream, update(control_id, version).to_mllp())
            parsed = parse_message(ack)
            expect("the code", (parsed.msa.msa_1.value, parsed.msa.msa_2.value), ("AA", control_id))
            # Before that a message does not name its structure, and the library does not guess that of an ACK.
            expect(f"an acknowledgement of {version} is valid", version < "2.3.1" or is_valid(ack))


def rejections_are_valid():
    with socket.create_connection(ADDRESS, timeout=120) as stream:
        for version in ["2.5", "2.5.1", "2.6"]:
            message = update(f"R{version}", version).to_er7().replace("PV1||O", "PV1||")
            ack = exchange(stream, f"\x0b{message}\r\x1c\r")
            parsed = parse_message(ack)
            expect("the code", parsed.msa.msa_1.value, "AE")
            expect("the place", parsed.err.err_2.value, "PV1^1^2")
            expect(f"a rejection of {version} is valid", is_valid(ack))


def the_inbox_is_valid():
    [row] = requests.get(KNOWN["inbox_url"], headers={"Authorization": f"Bearer {KNOWN['key']}"}).json()["data"]
    expect("a message of the inbox is valid", is_valid(row["payload"]))


def everything_is_an_event():
    events = requests.get(KNOWN["events_url"], headers={"Authorization": f"Bearer {KNOWN['key']}"}, params={"limit": 100})
    sent = [event for event in events.json()["data"] if event["type"] == "hl7_outbound"]
    expect("one event for each message", len(sent), 11)
    expect("told as it was sent", sent[0]["payload"]["payload"].startswith("MSH|^~\\&|APY|CLINIC|LAB|HOSP|"))


run("hl7apy", [answers_are_valid, rejections_are_valid, the_inbox_is_valid, everything_is_an_event])
