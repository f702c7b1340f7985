"""Requests, pypdf and Pillow, unmodified: documents that they make are uploaded, come back, and are read."""

import base64
import io
import shutil
from pathlib import Path

import requests
from expectations import credentials, expect, run
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter

KNOWN = credentials()
UPLOAD = KNOWN["upload_url"]
SESSION = requests.Session()
SESSION.headers["Authorization"] = f"Bearer {KNOWN['key']}"
SAMPLES = Path(__file__).parents[3] / "crates/documents/tests/paper/samples"
WORDS = ["Referral to cardiology", "Patient Maria Hernandez", "Evaluation of palpitations", "Metoprolol 25 mg daily"]


def upload(document, name, number="(555) 010-0177"):
    kind = "image/tiff" if name.endswith("tif") else "application/pdf"
    files = {"document": (name, document, kind)}
    return SESSION.post(UPLOAD, data={"to_number": number, "subject": "Referral"}, files=files)


def sent(document, name, number="(555) 010-0177"):
    answer = upload(document, name, number)
    expect("the status of the upload", answer.status_code, 201)
    return answer.json()


def text_of(fax):
    return SESSION.get(f"{UPLOAD}/{fax['id']}/text").json()


def picture(pages=1):
    """What a fax machine would scan: letter paper at 200 dots an inch, black and white."""
    font = ImageFont.load_default(size=44)
    scans = []
    for page in range(pages):
        scan = Image.new("1", (1728, 2200), 1)
        for line, words in enumerate([*WORDS, f"Page {page + 1}"]):
            ImageDraw.Draw(scan).text((150, 200 + 120 * line), words, font=font, fill=0)
        scans.append(scan)
    return scans


def saved(scans, **options):
    buffer = io.BytesIO()
    scans[0].save(buffer, save_all=True, append_images=scans[1:], **options)
    return buffer.getvalue()


def a_rewritten_pdf_is_read_by_its_text_layer():
    writer = PdfWriter()
    for page in PdfReader(SAMPLES / "reportlab.pdf").pages:
        writer.add_page(page).compress_content_streams()
    buffer = io.BytesIO()
    writer.write(buffer)
    fax = sent(buffer.getvalue(), "letter.pdf")
    expect("the fax", (fax["status"], fax["to_number"], fax["pages"]), ("sent", "+15550100177", 2))
    said = text_of(fax)
    expect("where the text is from", [page["source"] for page in said["pages"]], ["text_layer", "text_layer"])
    expect("the text", "Prior Authorization Denial Letter" in said["text"] and "72148" in said["text"])
    back = SESSION.get(f"{UPLOAD}/{fax['id']}/document")
    expect("the bytes come back", back.content == buffer.getvalue())
    expect("pypdf reads them", len(PdfReader(io.BytesIO(back.content)).pages), 2)
    page = Image.open(io.BytesIO(SESSION.get(f"{UPLOAD}/{fax['id']}/pages/2.png").content))
    expect("a page as a picture", (page.format, page.width), ("PNG", 1728))
    expect("there is ink on it", page.convert("L").getextrema()[0], 0)


def pictures_are_read_by_ocr():
    for name, options in [
        ("scan.tif", {"format": "TIFF", "compression": "group4", "dpi": (200, 200)}),
        ("lzw.tif", {"format": "TIFF", "compression": "tiff_lzw", "dpi": (200, 200)}),
        ("scan.pdf", {"format": "PDF", "resolution": 200}),
    ]:
        document = saved(picture(pages=2), **options)
        fax = sent(document, name)
        expect("pages of the fax", (fax["pages"], fax["size"]), (2, len(document)))
        page = Image.open(io.BytesIO(SESSION.get(f"{UPLOAD}/{fax['id']}/pages/1.png").content))
        expect("the size of the picture", page.size, (1728, 2200))
        said = text_of(fax)
        if not shutil.which("tesseract"):
            expect("without tesseract", said["ocr_status"], "unavailable")
            continue
        expect("what OCR says of itself", said["ocr_status"], "done")
        for words in WORDS:
            expect(f"{words} in {name}", words in said["text"])


def json_carries_the_same():
    document = saved(picture(), format="TIFF", compression="group4")
    body = {"to_number": "+15550100199", "base64": base64.b64encode(document).decode()}
    headers = {"Idempotency-Key": "one-fax"}
    first, again = (SESSION.post(UPLOAD, json=body, headers=headers) for _ in range(2))
    expect("a retry is one fax", (first.status_code, first.json()["id"]), (201, again.json()["id"]))
    expect("a busy number", (first.json()["status"], first.json()["reason"]), ("failed", "busy"))


def a_fax_to_oneself_arrives():
    fax = sent(saved(picture(), format="TIFF", compression="group4"), "scan.tif", KNOWN["fax_number"])
    newest = SESSION.get(KNOWN["inbox_url"]).json()["data"][0]
    expect("what arrived", (newest["sha256"], newest["read"]), (fax["sha256"], False))
    marked = SESSION.patch(f"{KNOWN['inbox_url']}/{newest['id']}", json={"read": True}).json()
    expect("it was read", marked["read"], True)


def what_is_no_document_is_refused():
    png = io.BytesIO()
    picture()[0].save(png, format="PNG")
    for document in [b"", b"hello", png.getvalue(), b"%PDF-1.7\n", b"II*\0"]:
        answer = upload(document, "x.pdf")
        expect("refused", (answer.status_code, list(answer.json()["error"]["details"])), (400, ["document"]))


run(
    "requests with pypdf and Pillow",
    [
        a_rewritten_pdf_is_read_by_its_text_layer,
        pictures_are_read_by_ocr,
        json_carries_the_same,
        a_fax_to_oneself_arrives,
        what_is_no_document_is_refused,
    ],
)
