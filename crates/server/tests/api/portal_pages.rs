//! The portal's HTML pages, used by a browser and by an attacker.

use reqwest::Method;
use serde_json::json;
use testkit::both_databases;

use crate::portal_browser::Browser;
use crate::portal_kit::Clinic;

both_databases! {
    async fn a_request_is_filled_in_page_by_page(server: TestServer) {
        let clinic = Clinic::open(&server, json!({"default_determination": {"status": "need_more_info", "reason": "Notes", "then": {"status": "approved"}}})).await;
        let mut browser = Browser::enter(&clinic).await;
        let review = browser.fill().await;
        let page = browser.get(&review).await.shows(200, "Maria Lopez");
        assert!(page.text.contains("Ana Reyes") && page.text.contains("Headache"), "{}", page.text);
        assert_eq!(clinic.rows("drafts").await[0]["answers"]["red_flags"], "no");
        for _ in 0..2 {
            browser.post(&review, &[("action", "continue")]).await.status_in(&[303]);
        }
        assert_eq!(clinic.rows("prior_auth_requests").await.len(), 1, "sent twice is sent once");
        assert!(clinic.rows("drafts").await.is_empty());
        browser.get(&review).await.redirects_to("/requests/PA-100001");
        browser.get("/requests/PA-100001").await.shows(200, "More information needed");
        browser.post("/requests/PA-100001/information", &[("clinical_notes", " ")]).await.shows(422, "Please check");
        browser.post("/requests/PA-100001/information", &[("clinical_notes", "More")]).await.redirects_to("/requests/PA-100001?notice=added");
        browser.get("/requests/PA-100001").await.shows(200, "Approved");
        browser.get("/requests/PA-100001/print").await.shows(200, "Prior authorization PA-100001");
        browser.get("/requests?determination=denied").await.shows(200, "No request matches");
        browser.post("/requests/PA-100001/withdraw", &[]).await.redirects_to("/requests/PA-100001?notice=withdrawn");
        browser.post("/requests/PA-100001/withdraw", &[]).await.shows(409, "withdrawn");
        browser.get("/requests/PA-7").await.shows(404, "Page not found");
        let row = &clinic.rows("prior_auth_requests").await[0];
        assert_eq!((&row["status"], &row["determination"]["status"]), (&json!("withdrawn"), &json!("approved")));
        let kinds = ["portal_login", "portal_view", "portal_search", "portal_submit"];
        for kind in &kinds {
            let events = clinic.events(kind).await;
            assert!(*kind == "portal_search" || !events.is_empty(), "{kind}");
            assert!(events.iter().all(|event| event["actor"] == clinic.credential("username")), "{events:?}");
        }
    }

    async fn every_page_has_security_headers(server: TestServer) {
        let clinic = Clinic::open(&server, json!({})).await;
        let mut browser = Browser::new(&clinic);
        browser.get("/").await.redirects_to("/login");
        let page = browser.get("/login").await.shows(200, "Sign in");
        let cookie = page.header("set-cookie");
        let path = format!("Path={}", clinic.path(""));
        for part in ["HttpOnly", "SameSite=Lax", path.as_str()] {
            assert!(cookie.contains(part), "{part} in {cookie}");
        }
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!((page.header("cache-control"), page.header("x-frame-options")), ("no-store", "DENY"));
        let style = browser.get("/style.css").await;
        assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
        assert!(!page.text.contains("<script") && !page.text.contains(" style="));
        let before = browser.cookie.clone();
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.redirects_to("/requests");
        let (inside, token) = (browser.cookie.clone(), browser.token.clone());
        browser.cookie = before;
        browser.get("/requests").await.redirects_to("/login?next=requests");
        browser.cookie = inside.clone();
        browser.get("/requests").await.shows(200, "Requests");
        assert_ne!(browser.token, token, "a login makes old forms worthless");
        browser.get("/requests/%0d%0aset-cookie:%20a=b").await.shows(404, "Page not found");
        browser.get("/login?next=//evil.example/").await.redirects_to("/requests");
        browser.post("/logout", &[]).await.redirects_to("/login?notice=out");
        browser.cookie = inside;
        browser.get("/requests").await.redirects_to("/login?next=requests");
    }

    async fn an_idle_session_expires(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let clinic = Clinic::open(&server, json!({"session_seconds": 60})).await;
        let mut browser = Browser::enter(&clinic).await;
        for _ in 0..3 {
            server.clock.advance(59_000);
            browser.get("/drafts").await.shows(200, "No drafts");
        }
        let token = browser.token.clone();
        server.clock.advance(60_000);
        browser.post("/drafts", &[("draft", "par_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]).await.redirects_to("/login?notice=expired");
        browser.get("/login?notice=expired").await.shows(200, "Your session has expired");
        assert_ne!(browser.token, token);
        assert!(clinic.rows("drafts").await.is_empty());
    }

    async fn a_login_is_for_one_portal_and_ends_with_a_reset(server: TestServer) {
        let (clinic, other) = (Clinic::open(&server, json!({})).await, Clinic::open(&server, json!({})).await);
        let browser = Browser::enter(&clinic).await;
        let mut stranger = Browser::new(&other);
        stranger.cookie = browser.cookie.clone();
        stranger.get("/requests").await.redirects_to("/login?next=requests");
        let mut forged = Browser::new(&clinic);
        let (claims, _) = browser.cookie.split_once('.').unwrap();
        for cookie in [format!("{claims}.AAAA"), "verial_portal=".into(), "verial_portal=..".into(), format!("{}x", browser.cookie)] {
            forged.cookie = cookie;
            forged.get("/requests").await.redirects_to("/login?next=requests");
        }
        let mut browser = browser;
        clinic.author.post(&format!("/playgrounds/{}/reset", clinic.playground), json!({})).await.expect(200);
        browser.get("/requests").await.redirects_to("/login?next=requests");
        clinic.author.post(&format!("/playgrounds/{}/teardown", clinic.playground), json!({})).await.expect(200);
        let closed = browser.get("/requests").await;
        assert_eq!(closed.status, 409, "{}", closed.text);
        assert_eq!(clinic.rows("prior_auth_requests").await.len(), 0);
    }

    /// S12: every form × {no token, wrong token, foreign origin, GET}.
    async fn a_form_from_another_origin_or_without_a_token_is_rejected(server: TestServer) {
        let clinic = Clinic::open(&server, json!({"default_determination": {"status": "need_more_info"}})).await;
        clinic.submit(json!({})).await.expect(201);
        let mut browser = Browser::enter(&clinic).await;
        let review = browser.fill().await;
        let draft = review.trim_end_matches("/review").to_owned();
        let before = clinic.author.get(&format!("/sandboxes/{}/state?limit=100", clinic.id())).await.expect(200).json;
        let forms = [
            ("/logout".to_owned(), true),
            ("/drafts".to_owned(), false),
            (format!("{draft}/patient"), false),
            (format!("{draft}/provider"), false),
            (format!("{draft}/service"), false),
            (format!("{draft}/clinical"), false),
            (format!("{draft}/documents"), false),
            (review, false),
            (format!("{draft}/discard"), true),
            ("/requests/PA-100001/information".to_owned(), true),
            ("/requests/PA-100001/withdraw".to_owned(), true),
            ("/login".to_owned(), false),
        ];
        let (token, mut probes) = (browser.token.clone(), 0);
        for (path, only_posts) in &forms {
            let mut fields = vec![("patient_member_id", "M200"), ("draft", "par_01K9Z3T5Q8W7N4M2R6V0XBHCDF"), ("clinical_notes", "x")];
            for (name, headers, token) in [
                ("no token", vec![], None),
                ("empty token", vec![], Some("")),
                ("wrong token", vec![], Some("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
                ("foreign origin", vec![("origin", "https://evil.example")], Some(token.as_str())),
                ("no origin", vec![("origin", "null")], Some(token.as_str())),
                ("foreign fetch", vec![("sec-fetch-site", "cross-site")], Some(token.as_str())),
            ] {
                fields.retain(|(name, _)| *name != "form_token");
                fields.extend(token.map(|token| ("form_token", token)));
                let page = browser.send(Method::POST, path, &headers, Some(&fields)).await;
                assert_eq!(page.status, 403, "{path} {name}: {}", page.text);
                probes += 1;
            }
            if *only_posts {
                assert_eq!(browser.send(Method::GET, path, &[], None).await.status, 405, "{path}");
            }
            for method in [Method::PUT, Method::PATCH, Method::DELETE] {
                assert_eq!(browser.send(method, path, &[], None).await.status, 405, "{path}");
                probes += 1;
            }
        }
        let after = clinic.author.get(&format!("/sandboxes/{}/state?limit=100", clinic.id())).await.expect(200).json;
        assert_eq!(before, after, "{probes} probes");
        let origin = clinic.credential("portal_url").split("/sandboxes").next().unwrap().to_owned();
        let own = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
        let page = browser.send(Method::POST, "/logout", &own, Some(&[("form_token", &token)])).await;
        page.redirects_to("/login?notice=out");
        eprintln!("{probes} forged forms, none accepted");
    }

    /// S13: ten failed logins a minute per account and address; unknown accounts behave the same.
    async fn password_guessing_is_throttled_and_reveals_nothing(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let clinic = Clinic::open(&server, json!({})).await;
        let mut texts = Vec::new();
        for name in [clinic.credential("username"), "nobody"] {
            let mut browser = Browser::new(&clinic);
            browser.get("/login").await;
            let token = browser.token.clone();
            for attempt in 0..10 {
                let page = browser.sign_in(name, &format!("guess {attempt}")).await.shows(401, "do not match");
                texts.push(page.text.replace(&token, ""));
            }
            let right = browser.sign_in(name, clinic.credential("password")).await.shows(429, "too many requests");
            assert!(right.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 0));
        }
        let first = texts[0].clone();
        assert!(texts.iter().all(|text| *text == first), "the same words for every failure");
        assert_eq!(clinic.events("portal_login").await.len(), 10, "a name that there is not leaves no event");
        server.clock.advance(60_000);
        let mut browser = Browser::new(&clinic);
        browser.get("/login").await;
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.redirects_to("/requests");
    }

    async fn configured_faults_are_applied(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let faults = json!({"unavailable_at": "review", "session_expires_at": "service", "lock_after_failures": 2,
            "lock_seconds": 120, "renamed_labels": {"diagnosis_code": "Dx <b>"}});
        let clinic = Clinic::open(&server, json!({"faults": faults})).await;
        let mut browser = Browser::enter(&clinic).await;
        browser.get("/requests").await;
        let draft = browser.post("/drafts", &[("draft", "par_01K9Z3T5Q8W7N4M2R6V0XBHCDE")]).await;
        let draft = draft.redirect().trim_end_matches("/patient").to_owned();
        let service = format!("{draft}/service");
        browser.get(&service).await.redirects_to("/login?notice=expired");
        browser.get("/login").await;
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.redirects_to("/requests");
        browser.get(&service).await.shows(200, "Dx &lt;b&gt;");
        let down = browser.get(&format!("{draft}/review")).await.shows(503, "down for a moment");
        assert_eq!(down.header("retry-after"), "5");
        browser.get(&format!("{draft}/review")).await.shows(200, "Review and submit");
        browser.post("/logout", &[]).await.redirects_to("/login?notice=out");
        browser.get("/login").await;
        for _ in 0..2 {
            browser.sign_in(clinic.credential("username"), "wrong").await.shows(401, "do not match");
        }
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.shows(403, "locked");
        server.clock.advance(120_000);
        browser.sign_in(clinic.credential("username"), clinic.credential("password")).await.redirects_to("/requests");
    }
}
