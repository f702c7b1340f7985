//! Which page an address means, and what may be done there.

use app::sandboxes::payer::pages::Page;
use axum::http::Method;

use super::percent::decoded;
use super::steps::Step;
use crate::envelope::{ApiError, Code};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Home,
    Login,
    Logout,
    Requests,
    Request(String),
    Print(String),
    Information(String),
    Withdraw(String),
    Drafts,
    Draft(String),
    Discard(String),
    Step(String, Step),
    Formulary,
}

impl Place {
    /// The address is `/sandboxes/{id}/portal/…`.
    pub(super) fn of(method: &Method, path: &str) -> Result<Self, ApiError> {
        let missing = || ApiError::new(Code::NotFound, "no such page");
        let segments: Option<Vec<String>> =
            path.split('/').skip(4).filter(|segment| !segment.is_empty()).map(decoded).collect();
        let segments = segments.ok_or_else(missing)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let place = Self::named(&segments).ok_or_else(missing)?;
        match (method.as_str(), place.reads(), place.writes()) {
            ("GET" | "HEAD", true, _) | ("POST", _, true) => Ok(place),
            _ => Err(ApiError::new(Code::MethodNotAllowed, "this page does not take that method")),
        }
    }

    fn named(segments: &[&str]) -> Option<Self> {
        Some(match segments {
            [] => Self::Home,
            ["login"] => Self::Login,
            ["logout"] => Self::Logout,
            ["drugs"] => Self::Formulary,
            ["requests"] => Self::Requests,
            ["requests", number] => Self::Request((*number).to_owned()),
            ["requests", number, "print"] => Self::Print((*number).to_owned()),
            ["requests", number, "information"] => Self::Information((*number).to_owned()),
            ["requests", number, "withdraw"] => Self::Withdraw((*number).to_owned()),
            ["drafts"] => Self::Drafts,
            ["drafts", key] => Self::Draft((*key).to_owned()),
            ["drafts", key, "discard"] => Self::Discard((*key).to_owned()),
            ["drafts", key, step] => Self::Step((*key).to_owned(), Step::named(step)?),
            _ => return None,
        })
    }

    fn reads(&self) -> bool {
        !matches!(self, Self::Logout | Self::Information(_) | Self::Withdraw(_) | Self::Discard(_))
    }

    fn writes(&self) -> bool {
        matches!(
            self,
            Self::Login
                | Self::Logout
                | Self::Information(_)
                | Self::Withdraw(_)
                | Self::Drafts
                | Self::Discard(_)
                | Self::Step(..)
        )
    }

    pub(super) fn needs_login(&self) -> bool {
        *self != Self::Login
    }

    /// The name of the page, for faults.
    pub(super) fn page(&self) -> Option<Page> {
        Some(match self {
            Self::Login => Page::Login,
            Self::Requests => Page::Requests,
            Self::Request(_) => Page::Request,
            Self::Print(_) => Page::Print,
            Self::Information(_) => Page::Information,
            Self::Drafts => Page::Drafts,
            Self::Step(_, step) => step.page(),
            Self::Formulary => Page::Formulary,
            Self::Home | Self::Logout | Self::Withdraw(_) | Self::Draft(_) | Self::Discard(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_a_method_tell_the_place() {
        let of = |method: Method, path: &str| {
            Place::of(&method, &format!("/sandboxes/sbx_1/portal{path}")).map_err(|error| error.code())
        };
        assert_eq!(of(Method::GET, ""), Ok(Place::Home));
        assert_eq!(of(Method::GET, "/requests/a%2Fb/"), Ok(Place::Request("a/b".into())));
        assert_eq!(of(Method::POST, "/drafts/d/review"), Ok(Place::Step("d".into(), Step::Review)));
        for path in ["/logout", "/requests/1/withdraw", "/requests/1/information", "/drafts/d/discard"] {
            assert_eq!(of(Method::GET, path), Err(Code::MethodNotAllowed), "{path}");
        }
        for path in ["/requests", "/requests/1", "/requests/1/print", "/drugs", ""] {
            assert_eq!(of(Method::POST, path), Err(Code::MethodNotAllowed), "{path}");
        }
        assert_eq!(of(Method::DELETE, "/drafts/d/review"), Err(Code::MethodNotAllowed));
        for path in ["/x", "/drafts/d/e", "/requests/%ff", "/drafts/d/review/x"] {
            assert_eq!(of(Method::GET, path), Err(Code::NotFound), "{path}");
        }
    }
}
