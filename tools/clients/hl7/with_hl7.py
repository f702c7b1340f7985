"""python-hl7, unmodified: its client and its command `mllp_send` send over MLLP and read the answers."""

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import hl7
import requests
from expectations import credentials, expect, run
from hl7.client import MLLPClient

KNOWN = credentials()
HOST, PORT = KNOWN["mllp_host"], int(KNOWN["mllp_port"])


def message(control_id, last="PV1|1|O\r", version="2.5.1"):
    return (
        f"MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|{control_id}|P|{version}\r"
        f"EVN||20260401120000\rPID|1||77^^^MRN||Doe^Ann\r{last}"
    )


def answer(client, text):
    return hl7.parse(client.send_message(text).decode().strip("\x0b\x1c\r") + "\r")


def told(ack):
    return str(ack.segment("MSA")[1]), str(ack.segment("MSA")[2])


def messages_on_one_connection():
    with MLLPClient(HOST, PORT) as client:
        for number in range(50):
            expect("the answer to this message", told(answer(client, message(f"H{number}"))), ("AA", f"H{number}"))
        expect("a resend", told(answer(client, message("H0"))), ("AA", "H0"))
        for version in ["2.1", "2.2", "2.3", "2.3.1", "2.4", "2.5", "2.6", "2.7", "2.8"]:
            ack = answer(client, message(f"V{version}", version=version))
            expect("the version of the answer", (told(ack)[0], str(ack.segment("MSH")[12])), ("AA", version))


def ten_thousand_messages_on_one_connection():
    with MLLPClient(HOST, PORT) as client:
        frames = b"".join(b"\x0b" + message(f"T{number}").encode() + b"\x1c\r" for number in range(10_000))
        sender = threading.Thread(target=client.socket.sendall, args=(frames,))
        sender.start()
        received = bytearray()
        while received.count(b"\x1c\r") < 10_000:
            piece = client.socket.recv(1 << 16)
            assert piece, "the connection ended"
            received += piece
        sender.join()
    answers = [frame.rsplit(b"\rMSA|", 1)[1].strip(b"\r").decode() for frame in bytes(received).split(b"\x1c\r")[:-1]]
    expect("every answer, in order", answers == [f"AA|T{number}" for number in range(10_000)])


def faults_have_a_place():
    with MLLPClient(HOST, PORT) as client:
        ack = answer(client, message("F1", last=""))
        expect("a missing segment", told(ack), ("AE", "F1"))
        error = ack.segment("ERR")
        expect("where", str(error[2]), "PV1^1")
        expect("what", str(error[3][0][0]), "100")
        expect("a message type that nobody knows", told(answer(client, message("F2").replace("ADT^A08", "XXX^A08"))), ("AR", "F2"))
        expect("what is no message", told(answer(client, "hello"))[0], "AR")


def the_command_sends():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "messages.hl7"
        path.write_text(message("C1").replace("\r", "\r\n") + "\n" + message("C2").replace("\r", "\r\n"), newline="")
        command = [str(Path(sys.executable).with_name("mllp_send")), "--loose", "--file", str(path), "--port", str(PORT), HOST]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    expect("mllp_send", done.returncode, 0)
    expect("both were accepted", [code in done.stdout for code in ("MSA|AA|C1", "MSA|AA|C2")], [True, True])


def the_inbox_can_be_parsed():
    [row] = requests.get(KNOWN["inbox_url"], headers={"Authorization": f"Bearer {KNOWN['key']}"}).json()["data"]
    parsed = hl7.parse(row["payload"])
    expect("the value of the result", str(parsed.segment("OBX")[5]), "6.1")
    expect("its control id", str(parsed.segment("MSH")[10]), row["control_id"])


run("python-hl7", [messages_on_one_connection, ten_thousand_messages_on_one_connection, faults_have_a_place, the_command_sends, the_inbox_can_be_parsed])
