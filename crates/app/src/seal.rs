//! Sealing of an answer that holds a secret, with a key that only the caller has: the server keeps nothing that opens it.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::api_key::Secret;
use sha2::{Digest, Sha256};

use crate::{AppError, chance};

/// The credential that the caller presented: the key is made of it when something is sealed or opened, which is seldom.
#[derive(Clone)]
pub(crate) struct SealingKey(Secret);

impl SealingKey {
    pub(crate) fn from_credential(credential: Secret) -> Self {
        Self(credential)
    }

    pub(crate) fn seal(&self, plain: &str) -> Result<String, AppError> {
        let nonce = chance::bytes::<NONCE_LEN>()?;
        let mut text = plain.as_bytes().to_vec();
        let sealed = self.key()?.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text);
        sealed.map_err(|_| AppError::Internal("sealing failed".into()))?;
        Ok(STANDARD.encode([nonce.as_slice(), &text].concat()))
    }

    /// `None` when it was sealed with another credential.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        let mut bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plain = self.key().ok()?.open_in_place(nonce, Aad::empty(), text).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }

    fn key(&self) -> Result<LessSafeKey, AppError> {
        let mut hash = Sha256::new();
        hash.update(b"verial: seal of an idempotent answer\0");
        hash.update(self.0.reveal().as_bytes());
        let key =
            UnboundKey::new(&AES_256_GCM, &hash.finalize()).map_err(|_| AppError::Internal("sealing key".into()))?;
        Ok(LessSafeKey::new(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::api_key::KeyKind;

    #[test]
    fn only_the_same_credential_opens_a_seal() {
        let of = |byte| SealingKey::from_credential(Secret::from_random(KeyKind::Organization, &[byte; 64]).unwrap());
        let key = of(1);
        let sealed = key.seal("secret").unwrap();
        assert_eq!(key.open(&sealed).as_deref(), Some("secret"));
        assert_eq!(of(2).open(&sealed), None);
        assert_eq!(key.open("AAAA"), None);
        assert_ne!(sealed, key.seal("secret").unwrap());
    }
}
