//! Editable benchmarks, as their authors see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::slug::{SLUG_RULE, is_slug};
use crate::{BenchmarkId, EnvironmentId, FieldErrors, OrgId, Timestamp, patch};

/// One week, the longest timeout of a task.
pub const MAX_TIMEOUT_SECONDS: i64 = 604_800;
pub const DEFAULT_TIMEOUT_SECONDS: i64 = 3600;
pub const DEFAULT_CONCURRENCY: i64 = 1;
pub const MAX_CONCURRENCY: i64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Visibility {
    /// Everyone may see and run the published versions.
    Public,
    /// Only the owning organization may see and run it.
    Private,
}

impl Visibility {
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Public => "Public",
            Visibility::Private => "Private",
        }
    }
}

impl std::str::FromStr for Visibility {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Visibility::Public, Visibility::Private].into_iter().find(|visibility| visibility.name() == text).ok_or(())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Benchmark {
    pub id: BenchmarkId,
    pub name: String,
    pub description: Option<String>,
    /// `null` if none is set, and for another organization's benchmark.
    pub environment_id: Option<EnvironmentId>,
    /// Timeout in seconds for tasks without their own timeout.
    #[schema(minimum = 1, maximum = 604_800)]
    pub timeout: i64,
    /// The number of task runs of one run that may be active at the same time.
    #[schema(minimum = 1, maximum = 256)]
    pub concurrency: i64,
    pub visibility: Visibility,
    pub published: bool,
    /// Unique on the server; fixed by the first publication.
    pub slug: Option<String>,
    /// The newest published version.
    pub version: Option<i64>,
    /// Whether the caller's organization owns it. If not, the fields show its newest published version.
    pub owned: bool,
    /// The organization that owns it; `null` for another organization's benchmark.
    #[serde(default)]
    pub organization_id: Option<OrgId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Benchmark {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if let Some(description) = &self.description {
            errors.length("description", description, 0..=1000);
        }
        errors.range("timeout", self.timeout, 1..=MAX_TIMEOUT_SECONDS);
        errors.range("concurrency", self.concurrency, 1..=MAX_CONCURRENCY);
        if self.slug.as_deref().is_some_and(|slug| !is_slug(slug)) {
            errors.add("slug", SLUG_RULE);
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBenchmark {
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[schema(max_length = 1000)]
    pub description: Option<String>,
    pub environment_id: Option<EnvironmentId>,
    /// Timeout in seconds for each task. Default: 3600.
    #[schema(minimum = 1, maximum = 604_800)]
    pub timeout: Option<i64>,
    /// Default: 1.
    #[schema(minimum = 1, maximum = 256)]
    pub concurrency: Option<i64>,
    /// Default: `Private`.
    pub visibility: Option<Visibility>,
    /// Default: derived from the name at the first publication.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub slug: Option<String>,
}

impl NewBenchmark {
    pub fn into_benchmark(self, id: BenchmarkId, now: Timestamp) -> Benchmark {
        Benchmark {
            id,
            name: self.name,
            description: self.description,
            environment_id: self.environment_id,
            timeout: self.timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS),
            concurrency: self.concurrency.unwrap_or(DEFAULT_CONCURRENCY),
            visibility: self.visibility.unwrap_or(Visibility::Private),
            published: false,
            slug: self.slug,
            version: None,
            owned: true,
            organization_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub description: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<EnvironmentId>)]
    pub environment_id: Option<Option<EnvironmentId>>,
    /// `null` restores the default.
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 604_800)]
    pub timeout: Option<Option<i64>>,
    /// `null` restores the default.
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 256)]
    pub concurrency: Option<Option<i64>>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Visibility, required = false)]
    pub visibility: Option<Visibility>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub slug: Option<Option<String>>,
}

impl BenchmarkPatch {
    pub fn apply(self, benchmark: &mut Benchmark) {
        patch::set(&mut benchmark.name, self.name);
        patch::set(&mut benchmark.description, self.description);
        patch::set(&mut benchmark.environment_id, self.environment_id);
        patch::set(&mut benchmark.timeout, self.timeout.map(|timeout| timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS)));
        patch::set(&mut benchmark.concurrency, self.concurrency.map(|number| number.unwrap_or(DEFAULT_CONCURRENCY)));
        patch::set(&mut benchmark.visibility, self.visibility);
        patch::set(&mut benchmark.slug, self.slug);
    }
}
