"""What the Python scripts share: expectations that are counted, refusals that are wanted, and SMART tokens."""

import json
import sys

import requests

passed = 0


def expect(what, actual, expected=True):
    global passed
    assert actual == expected, f"{what}: expected {expected!r}, got {actual!r}"
    passed += 1


def refusal(kind, call, *arguments, **named):
    """The error of this kind that the call must end with."""
    global passed
    try:
        answer = call(*arguments, **named)
    except kind as error:
        passed += 1
        return error
    raise AssertionError(f"expected {kind.__name__}, got the answer {answer!r}")


def credentials():
    return json.loads(sys.argv[1])


def token(scope=None, how="basic"):
    """The token endpoint's answer to client credentials in the header or in the body (RFC 6749, 2.3.1)."""
    known = credentials()
    form = {"grant_type": "client_credentials"}
    if scope:
        form["scope"] = scope
    pair = known["client_id"], known["client_secret"]
    if how == "body":
        form |= zip(("client_id", "client_secret"), pair)
    answer = requests.post(known["token_url"], data=form, auth=pair if how == "basic" else None)
    answer.raise_for_status()
    return answer.json()


def run(name, stories):
    for story in stories:
        try:
            story()
        except Exception:
            print(f"{name}: {story.__name__} failed", file=sys.stderr)
            raise
    print(f"{name}: {passed} checks passed")
