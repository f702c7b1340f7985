#!/usr/bin/env python3
"""Any model behind an OpenAI-compatible endpoint, as an agent for any benchmark.

    export OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=… OPENAI_MODEL=…
    verial run lab-followup@3 --local --agent 'python3 examples/model_agent.py'

The model gets the instruction, the doors of the sandbox and one tool, an HTTP request to them, and works until it says that
it is done. Standard library only.
"""

import json
import os
import sys
import urllib.error
import urllib.request

ROOT = f"{os.environ['VERIAL_BASE_URL']}/v1/task-runs/{os.environ['VERIAL_TASK_RUN_ID']}/sandbox"
MOST_TURNS = int(os.environ.get("MODEL_AGENT_TURNS", "40"))
LONGEST_ANSWER = 20_000

TOOL = {
    "type": "function",
    "function": {
        "name": "http",
        "description": "Sends one HTTP request to a door of the sandbox and gives back status and body.",
        "parameters": {
            "type": "object",
            "properties": {
                "method": {"type": "string", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]},
                "path": {"type": "string", "description": "Relative, such as fhir/Patient?name=Stone or hl7/inbox"},
                "body": {"description": "JSON, or a text for what is no JSON"},
                "content_type": {"type": "string", "description": "application/json without it"},
            },
            "required": ["method", "path"],
        },
    },
}


def send(url, method, headers, data, timeout):
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def use_sandbox(arguments):
    body, kind = arguments.get("body"), arguments.get("content_type", "application/json")
    data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = {"Authorization": f"Bearer {os.environ['VERIAL_RUN_TOKEN']}", "Content-Type": kind}
    path = str(arguments["path"]).lstrip("/")
    status, answer = send(f"{ROOT}/{path}", arguments["method"], headers, data, 60)
    text = answer.decode(errors="replace")
    if len(text) > LONGEST_ANSWER:
        text = f"{text[:LONGEST_ANSWER]}… ({len(text)} characters)"
    return f"{status}\n{text}"


def ask(messages):
    body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": [TOOL]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    url = f"{os.environ['OPENAI_BASE_URL'].rstrip('/')}/chat/completions"
    status, answer = send(url, "POST", headers, json.dumps(body).encode(), 300)
    if status != 200:
        sys.exit(f"the model's endpoint answered {status}: {answer[:500]!r}")
    return json.loads(answer)["choices"][0]["message"]


doors = json.loads(os.environ["VERIAL_ENDPOINTS"])
messages = [
    {"role": "system", "content": "You do clerical work in a health system over HTTP. Doors, relative to the sandbox: "
                                  f"{', '.join(sorted(doors))}. Do the task with the tool, then answer DONE."},
    {"role": "user", "content": f"{os.environ['VERIAL_INSTRUCTION']}\n\nWhat is known: {os.environ['VERIAL_TASK_ITEM']}"},
]
for _ in range(MOST_TURNS):
    message = ask(messages)
    messages.append(message)
    calls = message.get("tool_calls") or []
    if not calls:
        print(message.get("content"))
        break
    for call in calls:
        try:
            result = use_sandbox(json.loads(call["function"]["arguments"]))
        except (ValueError, KeyError, TypeError) as error:
            result = f"the tool could not be used: {error}"
        print(call["function"]["arguments"], "->", result.splitlines()[0])
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
