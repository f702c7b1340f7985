//! A minimal browser: keeps a cookie, reads form tokens, and does not follow redirects.

use reqwest::Method;
use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};

use crate::portal_kit::Clinic;

pub(crate) struct Browser {
    http: reqwest::Client,
    portal: String,
    pub(crate) cookie: String,
    pub(crate) token: String,
}

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The redirect target, relative to the portal.
    pub(crate) fn redirect(&self) -> &str {
        let location = self.headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        location.split_once("/portal").map(|(_, path)| path).unwrap_or(location)
    }

    #[track_caller]
    pub(crate) fn redirects_to(self, path: &str) -> Self {
        assert_eq!((self.status, self.redirect()), (303, path), "{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn status_in(&self, statuses: &[u16]) {
        assert!(statuses.contains(&self.status), "{}: {}", self.status, self.text);
    }

    #[track_caller]
    pub(crate) fn shows(self, status: u16, words: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.text.contains(words), "{words} in {}", self.text);
        self
    }
}

impl Browser {
    pub(crate) fn new(clinic: &Clinic) -> Self {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, portal: clinic.credential("portal_url").to_owned(), cookie: String::new(), token: String::new() }
    }

    /// A browser that is logged in.
    pub(crate) async fn enter(clinic: &Clinic) -> Self {
        let mut browser = Self::new(clinic);
        browser.get("/login").await.shows(200, "Sign in");
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.redirects_to("/requests");
        browser.get("/requests").await.shows(200, "Requests");
        browser
    }

    pub(crate) async fn sign_in(&mut self, username: &str, password: &str) -> Page {
        self.post("/login", &[("username", username), ("password", password)]).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        let page = self.send(Method::GET, path, &[], None).await;
        if let Some((_, rest)) = page.text.split_once("name=\"form_token\" value=\"") {
            self.token = rest.split('"').next().unwrap_or_default().to_owned();
        }
        page
    }

    /// Sends a form of the last page.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.token.clone();
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("form_token", token.as_str())]).collect();
        self.send(Method::POST, path, &[], Some(&fields)).await
    }

    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        form: Option<&[(&str, &str)]>,
    ) -> Page {
        let mut request = self.http.request(method, format!("{}{path}", self.portal));
        if !self.cookie.is_empty() {
            request = request.header(COOKIE, &self.cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(form) = form {
            let body = encoded(form);
            request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        }
        let response = request.send().await.unwrap();
        if let Some(cookie) = response.headers().get(SET_COOKIE) {
            self.cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Page { status, headers, text: response.text().await.unwrap() }
    }

    /// Creates a draft that is ready to be submitted, and returns the path of its review page.
    pub(crate) async fn fill(&mut self) -> String {
        self.get("/requests").await;
        let begun = self.post("/drafts", &[("draft", "par_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]).await;
        let draft = begun.redirect().trim_end_matches("/patient").to_owned();
        for (step, fields, next) in [
            ("patient", vec![("patient_member_id", "M100")], "provider"),
            ("provider", vec![("provider_npi", "1234567893")], "service"),
            ("service", vec![("procedure_code", "70551"), ("diagnosis_code", "G43.909")], "clinical"),
            ("clinical", vec![("clinical_notes", "Headache"), ("answer_red_flags", "no")], "documents"),
            ("documents", vec![], "review"),
        ] {
            self.post(&format!("{draft}/{step}"), &fields).await.redirects_to(&format!("{draft}/{next}"));
        }
        format!("{draft}/review")
    }
}

fn encoded(form: &[(&str, &str)]) -> String {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    form.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect::<Vec<_>>().join("&")
}
