"""linuxforhealth-x12 and pyx12, unmodified, validate what the clearinghouse answers to a generated variety of requests.

Argument: what provision.py prints. Each library judges the sets that it knows: linuxforhealth-x12 the 271, 277 and 835,
pyx12 the 277CA, 835 and 999 (and the TA1 around them). The 278 of 005010 is known to neither; it is only read.
"""

import io
import json
import logging
import os
import random
import sys
from collections import Counter

import pyx12.params
import pyx12.x12n_document
import requests
from linuxforhealth.x12.io import X12ModelReader
from messages import CLINIC, PAYER, SEPARATORS, claims, eligibility, interchange, name, review, status
from provision import MEMBERS, member
from pydantic import ValidationError

ROUNDS = int(os.environ.get("X12_ROUNDS", "40"))
known = json.loads(sys.argv[1])
session = requests.Session()
session.headers["Authorization"] = f"Bearer {known['key']}"
chance = random.Random(5010)
judged = Counter()
answered = Counter()
logging.disable(logging.CRITICAL)


def send(sets, separators="*^:~", control=1, acknowledge=False):
    return send_raw(interchange(sets, control, separators, acknowledge))


def send_raw(body):
    answer = session.post(known["transactions_url"], data=body.encode(), headers={"Content-Type": "application/edi-x12"})
    assert answer.status_code == 200, answer.text
    return answer.text


def transactions(text):
    """Every transaction of an answer as an interchange of its own, under the usual separators."""
    element, component, terminator, repetition = text[3], text[104], text[105], text[82]
    header, group, current = None, None, []
    for line in text.split(terminator):
        parts = line.strip("\n").split(element)
        if parts[0] != "ISA":
            parts = [part.replace(repetition, "^").replace(component, ":") for part in parts]
        if parts[0] == "ISA":
            header = parts[:11] + ["^"] + parts[12:16] + [":"]
        elif parts[0] == "GS":
            group = parts
        elif parts[0] == "ST":
            current = [parts]
        elif parts[0] == "SE":
            current.append(parts)
            end = [["GE", "1", group[6]], ["IEA", "1", header[13]]]
            yield parts_kind(current[0], group), [header, group, *current, *end]
        elif current:
            current.append(parts)


def parts_kind(start, group):
    return "277CA" if "X214" in group[8] else start[1]


def text_of(lines):
    return "".join("*".join(line) + "~\n" for line in lines)


def judge(answer):
    for kind, lines in transactions(answer):
        answered[kind] += 1
        if kind in ("271", "277", "835"):
            judge_with_linuxforhealth(kind, lines)
        if kind in ("277CA", "835", "999"):
            judge_with_pyx12(kind, text_of(lines))


def judge_with_linuxforhealth(kind, lines):
    readable, gaps = without_gaps(kind, [list(line) for line in lines])
    with X12ModelReader(text_of(readable)) as reader:
        try:
            [model] = reader.models()
        except (KeyError, ValidationError) as error:
            raise AssertionError(f"{text_of(readable)}\n{error!r}") from error
    assert model is not None
    judged[f"linuxforhealth-x12 {kind}" + (", but for what it cannot read" if gaps else "")] += 1


def without_gaps(kind, lines):
    """The answer without what linuxforhealth-x12 0.57 cannot read, though the implementation guides have it."""
    gaps, [end] = 0, [line for line in lines if line[0] == "SE"]
    for line in lines:
        # Of a subscriber and a dependent it knows only the reject reasons of a provider ("identical to Loop2100B").
        if line[0] == "AAA" and line[3] not in OF_PROVIDERS:
            line[3], gaps = "15", gaps + 1
        # An element that repeats and is empty is one empty value to it: EB03 where EB13 names a procedure.
        if line[0] == "EB" and len(line) > 13 and not line[3]:
            line[3], gaps = "30", gaps + 1
        # It spells a point of service plan `POS`; data element 1336 has `PS`.
        if line[0] == "EB" and line[4:5] == ["PS"]:
            line[4], gaps = "HM", gaps + 1
    if kind == "271" and not any(line[0] == "HL" and line[3] == "21" for line in lines):
        # It wants a receiver even where the payer is refused.
        at, gaps = lines.index(end), gaps + 1
        [payer] = [line for line in lines if line[0] == "HL"]
        assert payer[4] == "0", "a payer that rejects announces no receiver"
        payer[4] = "1"
        lines[at:at] = [["HL", "2", "1", "21", "0"], ["NM1", "1P", "2", "CLINIC", "", "", "", "", "XX", "1234567893"]]
        end[1] = str(int(end[1]) + 2)
    if kind == "835":
        # Its loop 1000A reads no PER at all.
        lines, gaps = [line for line in lines if line[0] != "PER"], gaps + 1
        end[1] = str(int(end[1]) - 1)
    return lines, gaps


# AAA03 that linuxforhealth-x12 knows where a payer or provider is refused.
OF_PROVIDERS = {"04", "15", "41", "42", "43", "44", "45", "46", "47", "48", "50", "51", "79", "80", "97", "T4"}


def judge_with_pyx12(kind, text):
    acknowledgment = io.StringIO()
    is_valid = pyx12.x12n_document.x12n_document(pyx12.params.params(), io.StringIO(text), acknowledgment, None, None)
    assert is_valid, f"{text}\n{acknowledgment.getvalue()}"
    judged[f"pyx12 {kind}"] += 1


def person(number, **changes):
    return name(number, **changes)


def anyone():
    """Somebody known, or somebody who is not quite."""
    number = chance.randrange(MEMBERS)
    changes = chance.choice([{}, {}, {}, {"last": "NOBODY"}, {"birth": "19000101"}, {"card": "Z9"}, {"first": "X", "card": "Z8"}])
    if number % 5 == 1 and not changes:
        return person(number - 1)[:1], person(number, entity="03")
    return person(number, **changes), None


def questions():
    return chance.choice([["EQ*30"], ["EQ*98"], ["EQ*1^35^AL"], ["DTP*291*D8*20260423", "EQ*30"], ["EQ**HC:99213"],
                          ["DTP*291*RD8*20200601-20200630", "EQ*30"], ["EQ*UC", "EQ*86"]])


def one(place):
    """A transaction of any kind."""
    kind = chance.choice(["270", "270", "276", "278", "837"])
    number = chance.randrange(MEMBERS)
    if kind == "270":
        people = [anyone() for _ in range(chance.choice([1, 1, 2]))]
        if len(people) > 1:
            people = [pair for pair in people if not pair[1]][:1] or people[:1]
        return eligibility(people, questions(), f"T{place}")
    if kind == "276":
        claim = chance.choice([[f"REF*1K*PAYER{number:02}"], [f"REF*EJ*CLAIM{number:02}"], ["DTP*472*RD8*20260101-20260131"],
                               [f"REF*EJ*CLAIM{number:02}", "SVC*HC:99213*85*****1", "DTP*472*D8*20260105"], ["REF*EJ*NONE"]])
        if number % 5 == 1:
            return status(person(number - 1), claim, f"T{place}", dependent=person(number, entity="QC"))
        return status(person(number), claim, f"T{place}")
    if kind == "278":
        return review(person(number), chance.choice([[], ["70551"], ["70552", "70551"], ["12345"]]), f"T{place}")
    people = []
    for part in range(chance.choice([1, 1, 3])):
        codes = chance.choices(["99213", "99214", "99215", "81002"], k=chance.choice([1, 2, 3]))
        services = [(code, chance.randrange(100, 30000)) for code in codes]
        people.append((person(chance.choice([n for n in range(MEMBERS) if n % 5 != 1])), f"C{place}-{part}", services))
    return claims(people, f"B{place}")


def a_variety_of_requests():
    for place in range(ROUNDS):
        sets = sorted((one(f"{place}{part}") for part in range(chance.choice([1, 1, 2, 4]))), key=lambda pair: pair[0])
        judge(send(sets, chance.choice(SEPARATORS), place + 1, chance.random() < 0.3))


def rules_and_rejections():
    for card, expected in [("X0001", "EB*B**98****25.00"), ("X0002", "AAA*N**75*C"), ("X0003", "AAA*N**79*C")]:
        answer = send([eligibility([(person(0, card=card), None)], ["EQ*98"], "T")])
        assert expected in answer, answer
        judge(answer)
    for provider, expected in [(CLINIC.replace("1234567893", "1234567890"), "AAA*N**43*C")]:
        answer = send([eligibility([(person(0), None)], ["EQ*30"], "T", provider=provider)])
        assert expected in answer, answer
        judge(answer)
    unknown = PAYER.replace("HARBOUR PLAN", "OTHER").replace("60054", "1")
    for sets in ([eligibility([(person(0), None)], ["EQ*30"], "T", payer=unknown)], [status(person(0), ["REF*EJ*1"], "T", payer=unknown)]):
        judge(send(sets))


def what_is_wrong_is_acknowledged():
    sound = interchange([eligibility([(person(0), None)], ["EQ*30"], "T")], 7)
    for broken in [
        sound.replace("SE*12*", "SE*13*"),
        sound.replace("~DMG*D8*", "~DMG*D8*9"),
        sound.replace("HL*3*2*22*0", "HL*3*9*22*7"),
        sound.replace("~EQ*30", "~ZZ9*1"),
        sound.replace("ST*270*", "ST*999*").replace("GS*HS", "GS*FA"),
        sound.replace("ST*270*", "ST*834*"),
        sound.replace("GE*1*1", "GE*2*1"),
        sound.replace("GE*1*1", "GE*1*9"),
        sound.replace("~NM1*IL", "~NM1*QQ"),
    ]:
        assert broken != sound
        judge(send_raw(broken))


def main():
    a_variety_of_requests()
    rules_and_rejections()
    what_is_wrong_is_acknowledged()
    for kind in ("271", "277", "277CA", "278", "835", "999"):
        assert answered[kind], f"no {kind} was answered: {answered}"
    for library, count in sorted(judged.items()):
        print(f"{library}: {count} validated")
    print(f"X12 libraries: {sum(judged.values())} checks passed")


main()
