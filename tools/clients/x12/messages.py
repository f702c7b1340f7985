"""Interchanges to send: the transactions of a clinic's day, in any number and under any separators."""

from provision import member

VERSIONS = {"270": ("HS", "005010X279A1"), "276": ("HR", "005010X212"), "278": ("HI", "005010X217"), "837": ("HC", "005010X222A1")}
SEPARATORS = ["*^:~", "|!>\n", "*^>~", "+`:\x1d"]


def interchange(sets, control, separators="*^:~", acknowledge=False):
    """`sets`: pairs of ST01 and segments, which are lists of elements; groups are made of neighbours of one kind."""
    element, repetition, component, terminator = separators
    lines, groups = [], []
    for kind, segments in sets:
        if not groups or groups[-1][0] != kind:
            groups.append((kind, []))
        groups[-1][1].append(segments)
    header = ["ISA", "00", " " * 10, "00", " " * 10, "ZZ", "CLINIC".ljust(15), "ZZ", "CLEARING".ljust(15), "260423", "1200"]
    lines.append(header + [repetition, "00501", f"{control:09}", str(int(acknowledge)), "T", component])
    for number, (kind, transactions) in enumerate(groups, 1):
        function, version = VERSIONS[kind]
        lines.append(["GS", function, "CLINIC", "PAYERS", "20260423", "1200", str(number), "X", version])
        for place, segments in enumerate(transactions, 1):
            lines.append(["ST", kind, f"{place:04}", version])
            lines += [[part.replace("^", repetition).replace(":", component) for part in segment] for segment in segments]
            lines.append(["SE", str(len(segments) + 2), f"{place:04}"])
        lines.append(["GE", str(len(transactions)), str(number)])
    lines.append(["IEA", str(len(groups)), f"{control:09}"])
    return "".join(element.join(line) + terminator for line in lines)


def split(text):
    return [line.strip().split("*") for line in text.strip().splitlines()]


PAYER = "NM1*PR*2*HARBOUR PLAN*****PI*60054"
CLINIC = "RIVERSIDE CLINIC*****XX*1234567893"


def name(number, entity="IL", **changes):
    last, first, birth, gender, card = member(number)
    known = {"last": last, "first": first, "birth": birth, "gender": gender, "card": card} | changes
    identity = "" if entity in ("03", "QC") else "****MI*{card}"
    return (f"NM1*{entity}*1*{{last}}*{{first}}" + identity).format(**known), "DMG*D8*{birth}*{gender}".format(**known)


def eligibility(people, questions, trace, payer=PAYER, provider=CLINIC):
    """`people`: for each the lines of NM1 and DMG, and perhaps those of a dependent."""
    lines = ["BHT*0022*13*REF1*20260423*1200", "HL*1**20*1", payer, "HL*2*1*21*1", f"NM1*1P*2*{provider}"]
    level = 2
    for place, (subscriber, dependent) in enumerate(people):
        level += 1
        lines.append(f"HL*{level}*2*22*{int(bool(dependent))}")
        about = [f"TRN*1*{trace}{place}*9CLINICSYS"]
        if dependent:
            lines += subscriber
            level += 1
            lines.append(f"HL*{level}*{level - 1}*23*0")
            lines += about + list(dependent)
        else:
            lines += about + list(subscriber)
        lines += questions
    return "270", split("\n".join(lines))


def status(person, claim, trace, payer=PAYER, dependent=None):
    lines = ["BHT*0010*13*CS1*20260423*1200", "HL*1**20*1", payer, "HL*2*1*21*1", "NM1*41*2*RIVERSIDE CLINIC*****46*X67E"]
    lines += ["HL*3*2*19*1", f"NM1*1P*2*{CLINIC}", f"HL*4*3*22*{int(bool(dependent))}"]
    subscriber, birth = person
    lines += [birth, subscriber] if not dependent else [subscriber]
    if dependent:
        lines += ["HL*5*4*23", dependent[1], dependent[0]]
    return "276", split("\n".join(lines + [f"TRN*1*{trace}"] + claim))


def review(person, codes, trace):
    lines = ["BHT*0007*13*AUTH1*20260423*1200", "HL*1**20*1", PAYER.replace("*PR*", "*X3*"), "HL*2*1*21*1", f"NM1*1P*2*{CLINIC}"]
    lines += ["HL*3*2*22*1", *person, f"HL*4*3*EV*{int(bool(codes))}", f"TRN*1*{trace}*9CLINICSYS", "UM*HS*I*62", "HI*BK:J45"]
    for place, code in enumerate(codes, 5):
        lines += [f"HL*{place}*4*SS*0", f"SV1*HC:{code}*120*UN*1"]
    return "278", split("\n".join(lines))


def claims(people, batch):
    """`people`: for each the member's number, lines of NM1 and DMG, the claim's number, and codes with charges in cents."""
    lines = [f"BHT*0019*00*{batch}*20260423*1200*CH", "NM1*41*2*RIVERSIDE CLINIC*****46*X67E", "PER*IC*BILLING*TE*5550144444"]
    lines += ["NM1*40*2*CLEARING*****46*CH01", "HL*1**20*1", f"NM1*85*2*{CLINIC}", "N3*1 RIVER RD"]
    lines += ["N4*SPRINGFIELD*IL*627010001", "REF*EI*123456789"]
    for level, (person, control, services) in enumerate(people, 2):
        total = sum(charge for _, charge in services)
        lines += [f"HL*{level}*1*22*0", "SBR*P*18*GRP42******CI", person[0], "N3*12 LAKE ST", "N4*SPRINGFIELD*IL*62701", person[1]]
        lines += [PAYER, f"CLM*{control}*{money(total)}***11:B:1*Y*A*Y*Y", "HI*ABK:J0190"]
        for number, (code, charge) in enumerate(services, 1):
            lines += [f"LX*{number}", f"SV1*HC:{code}*{money(charge)}*UN*1***1", "DTP*472*D8*20260105", f"REF*6R*L{number}"]
    return "837", split("\n".join(lines))


def money(cents):
    return f"{cents // 100}.{cents % 100:02}" if cents % 100 else str(cents // 100)
