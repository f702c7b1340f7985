//! Encrypts stored responses that contain a secret, with a key that only the caller has.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::api_key::Secret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest, Sha256};

use crate::{AppError, random};

/// Encrypts with a key that is derived from the caller's credential when it is needed, which is rare.
#[derive(Clone)]
pub(crate) struct ResponseKey(Secret);

impl ResponseKey {
    pub(crate) fn from_credential(credential: Secret) -> Self {
        Self(credential)
    }

    pub(crate) fn encrypt(&self, plain: &str) -> Result<String, AppError> {
        let nonce = random::bytes::<NONCE_LEN>()?;
        let mut text = plain.as_bytes().to_vec();
        let encrypted =
            self.key()?.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text);
        encrypted.map_err(|_| AppError::Internal("the encryption of a response failed".into()))?;
        Ok(STANDARD.encode([nonce.as_slice(), &text].concat()))
    }

    /// None if it was encrypted with another credential.
    pub(crate) fn decrypt(&self, encrypted: &str) -> Option<String> {
        let mut bytes = STANDARD.decode(encrypted).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plain = self.key().ok()?.open_in_place(nonce, Aad::empty(), text).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }

    fn key(&self) -> Result<LessSafeKey, AppError> {
        let mut hash = Sha256::new();
        hash.update(b"verial: seal of an idempotent answer\0");
        hash.update(self.0.reveal().as_bytes());
        let key = UnboundKey::new(&AES_256_GCM, &hash.finalize())
            .map_err(|_| AppError::Internal("the key of a response".into()))?;
        Ok(LessSafeKey::new(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::api_key::KeyKind;

    #[test]
    fn only_the_same_credential_decrypts_a_response() {
        let of = |byte| ResponseKey::from_credential(Secret::from_random(KeyKind::Organization, &[byte; 64]).unwrap());
        let key = of(1);
        let encrypted = key.encrypt("secret").unwrap();
        assert_eq!(key.decrypt(&encrypted).as_deref(), Some("secret"));
        assert_eq!(of(2).decrypt(&encrypted), None);
        assert_eq!(key.decrypt("AAAA"), None);
        assert_ne!(encrypted, key.encrypt("secret").unwrap());
    }
}
