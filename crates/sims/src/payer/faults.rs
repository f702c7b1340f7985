//! Faults that authors can inject into the portal's pages. They are deterministic, so that runs are comparable.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::authored;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Delays every request for a page.
    pub slow_page: Option<SlowPage>,
    /// The session expires on the first request for this page.
    pub session_expires_at: Option<Page>,
    /// The first request for this page fails with status 503.
    pub unavailable_at: Option<Page>,
    /// Replaces the labels of form fields.
    #[serde(default)]
    pub renamed_labels: BTreeMap<Field, String>,
    /// Locks the account after this number of wrong passwords in a row.
    pub lock_after_failures: Option<i64>,
    /// How long the account stays locked. Default: forever.
    pub lock_seconds: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowPage {
    pub page: Page,
    pub milliseconds: i64,
}

macro_rules! names {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum $kind { $(#[serde(rename = $name)] $variant,)* }

        impl $kind {
            pub const ALL: &[$kind] = &[$($kind::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)* }
            }
        }
    };
}

names! {
    /// A page of the portal.
    Page {
        Login = "login",
        Requests = "requests",
        Request = "request",
        Drafts = "drafts",
        Patient = "patient",
        Provider = "provider",
        Service = "service",
        Clinical = "clinical",
        Documents = "documents",
        Review = "review",
        Information = "information",
        Print = "print",
        Formulary = "formulary",
    }
}

names! {
    /// A field of the portal's forms.
    Field {
        Member = "patient_member_id",
        Provider = "provider_npi",
        Procedure = "procedure_code",
        Drug = "drug",
        Diagnosis = "diagnosis_code",
        Urgency = "urgency",
        ServiceDate = "service_date",
        Notes = "clinical_notes",
        Documents = "documents",
    }
}

const MAX_DELAY_MILLISECONDS: i64 = 30_000;

impl Faults {
    pub(super) fn validate(&self, errors: &mut FieldErrors) {
        if let Some(slow) = &self.slow_page {
            errors.range("slow_page.milliseconds", slow.milliseconds, 1..=MAX_DELAY_MILLISECONDS);
        }
        for (field, label) in &self.renamed_labels {
            authored::text(errors, &format!("renamed_labels.{}", field.name()), label, 100);
        }
        if let Some(failures) = self.lock_after_failures {
            errors.range("lock_after_failures", failures, 1..=100);
        }
        if let Some(seconds) = self.lock_seconds {
            errors.range("lock_seconds", seconds, 1..=604_800);
            if self.lock_after_failures.is_none() {
                errors.add("lock_seconds", "is never used without `lock_after_failures`");
            }
        }
    }

    /// The delay of a page.
    pub fn wait_milliseconds(&self, page: Page) -> u64 {
        let slow = self.slow_page.as_ref().filter(|slow| slow.page == page);
        slow.and_then(|slow| u64::try_from(slow.milliseconds).ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use crate::authored;
    use crate::payer::config::PayerConfig;
    use serde_json::json;

    #[test]
    fn faults_are_validated() {
        for (faults, field) in [
            (json!({"slow_page": {"page": "review", "milliseconds": 2000}, "renamed_labels": {"drug": "Rx"}}), ""),
            (json!({"session_expires_at": "clinical", "unavailable_at": "documents", "lock_after_failures": 3}), ""),
            (json!({"slow_page": {"page": "review", "milliseconds": 30_001}}), "faults.slow_page.milliseconds"),
            (json!({"slow_page": {"page": "start", "milliseconds": 1}}), "faults.slow_page.page"),
            (json!({"renamed_labels": {"dose": "x"}}), "faults.renamed_labels.dose"),
            (json!({"renamed_labels": {"drug": " "}}), "faults.renamed_labels.drug"),
            (json!({"lock_seconds": 5}), "faults.lock_seconds"),
            (json!({"lock_after_failures": 0}), "faults.lock_after_failures"),
            (json!({"slow": 1}), "faults.slow"),
        ] {
            let errors = authored::check::<PayerConfig>(&json!({"faults": faults})).err().unwrap_or_default();
            let found: Vec<&str> = errors.iter().map(|(name, _)| name).collect();
            assert_eq!(found.join(" "), field, "{errors}");
        }
    }
}
