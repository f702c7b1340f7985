//! TLS to PostgreSQL, with the meaning that `sslmode` has everywhere else: `prefer` and `require` encrypt, `verify-full` also
//! checks who answers (against the machine's roots, or the file that `sslrootcert` names).

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::StoreError;

/// Whether the server's name is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    None,
    Full { root_file: Option<String> },
}

pub(crate) fn client_config(verification: &Verification) -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    let builder = match verification {
        Verification::None => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        Verification::Full { root_file } => builder.with_root_certificates(roots(root_file.as_deref())?),
    };
    Ok(builder.with_no_client_auth())
}

fn roots(file: Option<&str>) -> Result<RootCertStore, StoreError> {
    let unreadable = |reason: &dyn std::fmt::Display| StoreError::Unavailable(format!("sslrootcert: {reason}"));
    let mut roots = RootCertStore::empty();
    match file {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(file) => {
            for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
        }
    }
    Ok(roots)
}

/// Accepts every certificate, but checks that its holder signed the handshake.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
