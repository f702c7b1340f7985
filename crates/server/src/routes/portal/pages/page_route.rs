//! Maps the path and method of a request to a page of the portal.

use app::sandboxes::payer::pages::Page;
use axum::http::Method;

use super::percent::decode_segment;
use super::steps::WizardStep;
use crate::api_error::{ApiError, Code};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageRoute {
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
    Step(String, WizardStep),
    Formulary,
}

impl PageRoute {
    /// Parses a path of the form `/sandboxes/{id}/portal/…`.
    pub(super) fn parse(method: &Method, path: &str) -> Result<Self, ApiError> {
        let not_found = || ApiError::new(Code::NotFound, "no such page");
        let segments: Option<Vec<String>> =
            path.split('/').skip(4).filter(|segment| !segment.is_empty()).map(decode_segment).collect();
        let segments = segments.ok_or_else(not_found)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let route = Self::from_segments(&segments).ok_or_else(not_found)?;
        match (method.as_str(), route.accepts_get(), route.accepts_post()) {
            ("GET" | "HEAD", true, _) | ("POST", _, true) => Ok(route),
            _ => Err(ApiError::new(Code::MethodNotAllowed, "this page does not support that method")),
        }
    }

    fn from_segments(segments: &[&str]) -> Option<Self> {
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
            ["drafts", key, step] => Self::Step((*key).to_owned(), WizardStep::from_name(step)?),
            _ => return None,
        })
    }

    fn accepts_get(&self) -> bool {
        !matches!(self, Self::Logout | Self::Information(_) | Self::Withdraw(_) | Self::Discard(_))
    }

    fn accepts_post(&self) -> bool {
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

    /// The page for which a simulator's config can set faults.
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
    fn path_and_method_select_the_route() {
        let parse = |method: Method, path: &str| {
            PageRoute::parse(&method, &format!("/sandboxes/sbx_1/portal{path}")).map_err(|error| error.code())
        };
        assert_eq!(parse(Method::GET, ""), Ok(PageRoute::Home));
        assert_eq!(parse(Method::GET, "/requests/a%2Fb/"), Ok(PageRoute::Request("a/b".into())));
        assert_eq!(parse(Method::POST, "/drafts/d/review"), Ok(PageRoute::Step("d".into(), WizardStep::Review)));
        for path in ["/logout", "/requests/1/withdraw", "/requests/1/information", "/drafts/d/discard"] {
            assert_eq!(parse(Method::GET, path), Err(Code::MethodNotAllowed), "{path}");
        }
        for path in ["/requests", "/requests/1", "/requests/1/print", "/drugs", ""] {
            assert_eq!(parse(Method::POST, path), Err(Code::MethodNotAllowed), "{path}");
        }
        assert_eq!(parse(Method::DELETE, "/drafts/d/review"), Err(Code::MethodNotAllowed));
        for path in ["/x", "/drafts/d/e", "/requests/%ff", "/drafts/d/review/x"] {
            assert_eq!(parse(Method::GET, path), Err(Code::NotFound), "{path}");
        }
    }
}
