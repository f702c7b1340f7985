//! Path traversal attempts: dots in every encoding, absolute paths, odd characters, long names.

/// The content of a file in another sandbox. Tests check that no response contains it.
pub const SECRET: &str = "the-secret-of-another-sandbox";

/// More than 2 000 file names, always the same. `foreign` is the id of the sandbox with the secret.
pub fn attempts(foreign: &str) -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let targets = [
        "etc/passwd".to_owned(),
        "inbox/secret.txt".to_owned(),
        format!("{foreign}/inbox/secret.txt"),
        format!("sandboxes/{foreign}/files/inbox/secret.txt"),
        "proc/self/environ".to_owned(),
        "verial.db".to_owned(),
    ];
    for up in PARENT_SPELLINGS {
        for target in &targets {
            for depth in [1, 2, 3, 8, 40] {
                for (before, after) in
                    [("", ""), ("/", ""), ("inbox/", ""), ("inbox/own.txt/", ""), ("", "\0.txt"), ("", "/")]
                {
                    let name = format!("{before}{}{target}{after}", up.repeat(depth));
                    names.push(name.into_bytes());
                }
            }
        }
    }
    for target in &targets {
        for root in
            ["/", "//", "///", "\\\\", "C:\\", "C:/", "file:///", "~/", "~root/", "$HOME/", "%00/", "./", ".//./"]
        {
            names.push(format!("{root}{target}").into_bytes());
        }
    }
    // Invalid UTF-8: overlong dots, truncated characters, lone surrogates.
    for bytes in
        [&b"\xc0\xae\xc0\xae/etc/passwd"[..], b"\xff\xfe/x", b"inbox/\xed\xa0\x80", b"\xe0\x80\xae/x", b"a\xc3"]
    {
        names.push(bytes.to_vec());
    }
    names.push("x/".repeat(5000).into_bytes());
    names.push("../".repeat(5000).into_bytes());
    names.push("x".repeat(100_000).into_bytes());
    names.push("\u{202e}txt.exe".to_owned().into_bytes());
    names
}

/// Ways to write "one directory up".
const PARENT_SPELLINGS: [&str; 12] = [
    "../",
    "..\\",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%2f",
    "%252e%252e%252f",
    "..;/",
    "....//",
    "\u{ff0e}\u{ff0e}/",
    "\u{2025}/",
    "\u{2024}\u{2024}/",
    ".\u{0}./",
];
