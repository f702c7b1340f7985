"""Rendered documents against programs that others made: pypdf, pdfminer.six and qpdf read the PDFs, Pillow the TIFFs, and
tesseract what is only a picture. Argument: the binary `verial`."""

import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from expectations import expect, run  # noqa: E402
from PIL import Image  # noqa: E402
from pdfminer.high_level import extract_text  # noqa: E402
from pdfminer.layout import LAParams  # noqa: E402
from pypdf import PdfReader  # noqa: E402

VERIAL = sys.argv[1]
FOLDER = Path(tempfile.mkdtemp())
REFERRAL = json.loads((Path(__file__).parent / "referral.json").read_text())
# Of a hundred words that a person reads on a scanned page, so many may be read wrongly by a program.
MOST_WRONG_WORDS = 0.15
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789ñüéŁżđặồšğΩжй()<>/%[]'.,;:-"


def verial(*arguments):
    done = subprocess.run([VERIAL, "document", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(specification, name):
    """The path of the file that a specification becomes."""
    source, target = FOLDER / f"{name}.json", FOLDER / name
    source.write_text(json.dumps(specification))
    verial("render", source, "-o", target)
    return target


def words(text):
    return text.split()


def first_missing(wanted, found):
    """The first word that does not follow the ones before it."""
    found = iter(found)
    return next((word for word in wanted if not any(other == word for other in found)), None)


def said(specification):
    """Every word of a specification, in the order in which it is printed."""
    head = [specification["title"], *(f"{label}: {value}" for label, value in specification["header"].items())]
    sections = []
    for section in specification["sections"]:
        sections += [section.get("heading", ""), section.get("text", ""), *section.get("list", [])]
        table = section.get("table")
        if table:
            sections += [*table["columns"], *(str(cell) for row in table["rows"] for cell in row)]
    return words(" ".join(head + sections))


def any_specification(dice):
    word = lambda: "".join(dice.choices(LETTERS, k=dice.randint(1, 12)))
    some = lambda most: " ".join(word() for _ in range(dice.randint(1, most)))
    rows = [[word(), some(3), word()] for _ in range(dice.randint(1, 60))]
    return {
        "title": some(5),
        "header": {word() + str(index): some(6) for index in range(dice.randint(0, 9))},
        "sections": [
            {"heading": some(3), "text": "\n\n".join(some(120) for _ in range(dice.randint(1, 8)))},
            {"heading": some(2), "list": [some(30) for _ in range(5)]},
            {"table": {"columns": ["One", "Two", "Three"], "rows": rows}},
        ],
        "signer": some(3),
    }


def any_document_is_read_word_for_word():
    dice = random.Random(20260401)
    for number in range(12):
        specification = any_specification(dice)
        path = rendered(specification, f"any-{number}.pdf")
        reader = PdfReader(path, strict=True)
        found = words(" ".join(page.extract_text() for page in reader.pages))
        expect(f"pypdf misses nothing in {path}", first_missing(said(specification), found), None)
        # It joins what lies beside each other, so only whether each word is there counts.
        found = "".join(words(extract_text(path, laparams=LAParams(boxes_flow=None))))
        missing = [word for word in said(specification) if word not in found]
        expect(f"pdfminer misses no word in {path}", missing, [])
        again = rendered(specification, "again.pdf")
        expect("the same bytes", again.read_bytes(), path.read_bytes())


def qpdf_finds_no_fault():
    if not shutil.which("qpdf"):
        print("qpdf is not installed: the structure of PDFs was not checked by it")
        return
    for name, change in [("plain.pdf", {}), ("scan.pdf", {"text_layer": False}), ("both.pdf", {"look": "scanned"}),
                         ("inked.pdf", {"signature": "scanned"})]:
        checked = subprocess.run(["qpdf", "--check", rendered(REFERRAL | change, name)], capture_output=True, text=True)
        expect(f"qpdf on {name}: {checked.stdout}{checked.stderr}", checked.returncode, 0)


def pictures_are_pictures():
    tiff = Image.open(rendered(REFERRAL | {"format": "tiff"}, "fax.tif"))
    expect("pages of the TIFF", tiff.n_frames, 2)
    expect("compression, size and resolution", (tiff.info["compression"], tiff.size, tiff.info["dpi"]),
           ("group4", (1728, 2156), (204.0, 196.0)))
    for page in range(tiff.n_frames):
        tiff.seek(page)
        dark = tiff.convert("L").histogram()[0] / (1728 * 2156)
        expect(f"page {page + 1} has ink, and not too much", 0.002 < dark < 0.2)
    path = rendered(REFERRAL | {"text_layer": False}, "scan.pdf")
    reader = PdfReader(path, strict=True)
    expect("no words in a picture", words(" ".join(page.extract_text() for page in reader.pages)), [])
    for number, page in enumerate(reader.pages, 1):
        ours = FOLDER / "pages" / f"page-{number}.png"
        verial("pages", path, "-o", FOLDER / "pages")
        theirs = Image.open(io.BytesIO(page.images[0].data)).convert("L")
        expect("the same pixels as pypdf sees", Image.open(ours).convert("L").tobytes(), theirs.tobytes())


def plain_words(text):
    """As word error rates are counted: small letters without accents, which an English model does not know, and digits."""
    letters = unicodedata.normalize("NFKD", "\n".join(line for line in text.splitlines() if not line.startswith("---")))
    kept = (letter for letter in letters.lower().replace("đ", "d") if not unicodedata.combining(letter))
    return words("".join(letter if letter.isalnum() else " " for letter in kept))


def wrong_words(wanted, found):
    """Words to change, add or leave out, for each word that is there."""
    row = list(range(len(found) + 1))
    for count, word in enumerate(wanted, 1):
        before, row[0] = row[0], count
        for index, other in enumerate(found, 1):
            before, row[index] = row[index], min(before + (word != other), row[index] + 1, row[index - 1] + 1)
    return row[-1] / len(wanted)


def scans_can_be_read_again():
    if not shutil.which("tesseract"):
        print("tesseract is not installed: scanned pages were not read")
        return
    plain = plain_words(verial("text", rendered(REFERRAL, "plain.pdf")))
    for name, change in [("scan.pdf", {"text_layer": False}), ("clean.pdf", {"text_layer": False, "look": "clean"}),
                         ("fax.tif", {"format": "tiff"})]:
        read = plain_words(verial("text", "--ocr", rendered(REFERRAL | change, name)))
        rate = wrong_words(plain, read)
        print(f"word error rate of {name}: {rate:.3f} over {len(plain)} words")
        expect(f"few words of {name} are read wrongly ({rate:.3f})", rate <= MOST_WRONG_WORDS)


try:
    run("documents", [any_document_is_read_word_for_word, qpdf_finds_no_fault, pictures_are_pictures, scans_can_be_read_again])
finally:
    shutil.rmtree(FOLDER)
