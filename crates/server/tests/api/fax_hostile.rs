//! S6 for documents: a fax line accepts or rejects (4xx) any input at a bounded cost, and rejected
//! input only leaves an event.

use std::collections::BTreeMap;

use serde_json::json;
use testkit::both_databases;
use testkit::world::pdf;

use crate::dice::Dice;
use crate::fax::{CLINIC, Line, referral};

/// The number of cases in continuous integration.
const CASES: usize = 1000;
/// One in this many cases is an image, because OCR is slow.
const PICTURES: usize = 50;

both_databases! {
    async fn damaged_documents_are_accepted_or_rejected_without_a_server_error(server: TestServer) {
        let line = Line::open(&server.organization("Acme").await, json!({})).await;
        let rendered = |change| documents::render(&referral(change)).unwrap().bytes;
        let texts = [pdf("Hello"), rendered(json!({}))];
        let pictures = [rendered(json!({"look": "scanned"})), tiny_tiff()];
        let mut dice = Dice(7);
        let mut statuses: BTreeMap<(u16, String), usize> = BTreeMap::new();
        let mut taken = 0;
        for case in 0..CASES {
            let sources = if case.is_multiple_of(PICTURES) { &pictures } else { &texts };
            let document = damaged(&mut dice, sources);
            let response = line.upload(CLINIC, "a", &document).await;
            assert!(matches!(response.status, 201 | 400), "{}: {}", response.status, response.text());
            let why = response.json["error"]["details"]["document"][0].as_str().unwrap_or_default();
            *statuses.entry((response.status, why.chars().take(40).collect())).or_default() += 1;
            if response.status == 201 {
                taken += 1;
                let page = line.get(&format!("/faxes/{}/pages/1.png", response.id())).await;
                assert!(matches!(page.status, 200 | 404), "{}", page.text());
            }
        }
        assert_eq!(line.get("/faxes?limit=100").await.expect(200).data().len(), taken.min(100), "only what was taken is kept");
        eprintln!("{CASES} damaged documents: {statuses:?}");
    }

    async fn oversized_input_is_rejected(server: TestServer) {
        let line = Line::open(&server.organization("Acme").await, json!({})).await;
        let before = resident_bytes();
        for (name, bomb) in bombs() {
            let response = line.upload(CLINIC, "a", &bomb).await;
            assert!(matches!(response.status, 201 | 400 | 413), "{name}: {} {}", response.status, response.text());
            eprintln!("{name}: {} {}", response.status, response.json["error"]["details"]);
        }
        if let (Some(before), Some(after)) = (before, resident_bytes()) {
            eprintln!("resident memory: {} MiB before, {} MiB after", before >> 20, after >> 20);
            assert!(after < before + (512 << 20));
        }
        line.upload(CLINIC, "a.pdf", &pdf("still here")).await.expect(201);
    }
}

/// A black-and-white TIFF of 64 by 16 pixels with one uncompressed strip.
fn tiny_tiff() -> Vec<u8> {
    let entries: [(u16, u16, u32); 9] = [
        (256, 3, 64),
        (257, 3, 16),
        (258, 3, 1),
        (259, 3, 1),
        (262, 3, 0),
        (273, 4, 122),
        (277, 3, 1),
        (278, 3, 16),
        (279, 4, 128),
    ];
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend(9_u16.to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file.extend((0..128).map(|at: u8| if at.is_multiple_of(3) { 0xaa } else { 0 }));
    file
}

/// A valid document with random damage.
fn damaged(dice: &mut Dice, sources: &[Vec<u8>]) -> Vec<u8> {
    let mut document = sources[dice.below(sources.len())].clone();
    for _ in 0..1 + dice.below(8) {
        let at = dice.below(document.len().max(1));
        match dice.below(6) {
            0 => document.truncate(at.max(5)),
            1 => document[at] = dice.below(256) as u8,
            2 => {
                let until = (at + dice.below(64)).min(document.len());
                document.drain(at..until);
            }
            3 => {
                let until = (at + dice.below(64)).min(document.len());
                let copied = document[at..until].to_vec();
                let place = dice.below(document.len());
                document.splice(place..place, copied);
            }
            4 => {
                let words: [&[u8]; 8] = [
                    b"/Length 99999999",
                    b"[[[[[[[[",
                    b"<<<<<<<<",
                    b"1 0 R",
                    b"endobj",
                    b"/Filter/FlateDecode",
                    b"\0\0\0\0",
                    b"99999999999999999999",
                ];
                document.splice(at..at, words[dice.below(8)].iter().copied());
            }
            _ => {
                for byte in document.iter_mut().skip(at).take(4) {
                    *byte = 0xff;
                }
            }
        }
        if document.len() < 5 {
            break;
        }
    }
    document
}

fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let tiff = |width: u32, height: u32| {
        let mut file = tiny_tiff();
        for (place, value) in [(10 + 8, width), (10 + 12 + 8, height), (10 + 7 * 12 + 8, height)] {
            file[place - 6..place - 4].copy_from_slice(&4_u16.to_le_bytes());
            file[place..place + 4].copy_from_slice(&value.to_le_bytes());
        }
        file
    };
    let mut looping = tiny_tiff();
    let next = 8 + 2 + 9 * 12;
    looping[next..next + 4].copy_from_slice(&8_u32.to_le_bytes());
    let nested = format!("%PDF-1.4\n1 0 obj{}endobj\ntrailer<</Root 1 0 R>>", "[".repeat(5 << 20));
    let kids = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[{}]>>endobj\ntrailer<</Root 1 0 R>>",
        "3 0 R ".repeat(1 << 20)
    );
    vec![
        ("9 MiB", [pdf("x"), vec![b' '; 9 << 20]].concat()),
        ("a picture of 4 gigapixels", tiff(65_535, 65_535)),
        ("a picture without end", tiff(u32::MAX, u32::MAX)),
        ("64 megapixels of nothing", tiff(8192, 8191)),
        ("pages in a circle", looping),
        ("nested arrays", nested.into_bytes()),
        ("a million pages", kids.into_bytes()),
        ("deflated zeros", deflated(7 << 20)),
        ("a page that shows itself", pdf("x) Tj /F1 Do /F1 Do (y")),
        ("only the head", b"%PDF-1.7".to_vec()),
        ("half of a TIFF", tiny_tiff()[..60].to_vec()),
    ]
}

/// A content stream that unpacks to a thousand times its size: one stored block of zeros, repeated by reference.
fn deflated(bytes: usize) -> Vec<u8> {
    // zlib, fixed Huffman: a literal zero, then copies of length 258 at distance 1.
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut push = |value: u16, length: u32| bits.extend((0..length).rev().map(|bit| value >> bit & 1 == 1));
    push(0b0011_0000, 8);
    for _ in 0..bytes * 8 / 13 {
        push(0b1100_0101, 8);
        push(0, 5);
    }
    push(0, 7);
    let packed: Vec<u8> =
        bits.chunks(8).map(|chunk| chunk.iter().enumerate().map(|(at, bit)| u8::from(*bit) << at).sum()).collect();
    let mut file = format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/Contents[4 0 R 4 0 R 4 0 R]>>endobj\n4 0 obj<</Filter/FlateDecode/Length {}>>stream\n",
        packed.len() + 2
    )
    .into_bytes();
    file.extend([0x78, 0x9c]);
    file.extend(packed);
    file.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n");
    file
}

/// The resident memory of this process, in which the server runs; `None` if the system does not report it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}
