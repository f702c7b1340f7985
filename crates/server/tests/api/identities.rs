//! Identities: the organization, its keys, its solvers and their keys.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Caller, Contract, TestServer, both_databases};

both_databases! {
    async fn an_organization_is_read_and_renamed(server: TestServer) {
        let caller = server.organization("Before").await;
        let other = server.organization("Bystander").await;
        let before = caller.get("/organization").await.expect(200);
        assert_eq!(before["name"], "Before");
        let renamed = caller.patch("/organization", json!({"name": "Äfter"})).await.expect(200);
        assert_eq!((&renamed["id"], &renamed["name"]), (&before["id"], &json!("Äfter")));
        assert_eq!(caller.get("/organization").await.expect(200).json, renamed.json);
        assert_eq!(other.get("/organization").await.expect(200)["name"], "Bystander");
        for bad in [json!(""), json!(" "), json!("a\nb"), json!("x".repeat(201)), json!(null), json!(5)] {
            let refused = caller.patch("/organization", json!({"name": bad})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), ["name"]);
        }
    }

    async fn a_secret_is_shown_once_and_lists_show_only_its_start_and_end(server: TestServer) {
        let caller = server.organization("Keys").await;
        let made = caller.post("/api-keys", json!({"name": "ci"})).await.expect(201);
        let secret = made["key"].as_str().unwrap();
        assert!(secret.starts_with("vk_") && secret.len() == 41, "{secret}");
        assert!(secret.bytes().skip(3).all(|byte| byte.is_ascii_alphanumeric()), "{secret}");
        assert_eq!(made.header("cache-control"), Some("no-store"));
        let listed = caller.get("/api-keys").await.expect(200);
        assert!(!listed.text().contains(secret));
        let row = row(&listed.json, &made.id());
        assert_eq!((&row["prefix"], &row["createdAt"]), (&json!("vk_"), &made["created_at"]));
        assert_eq!(row["suffix"], secret[secret.len() - 4..]);
        assert_eq!((&row["last_used_at"], &row["revoked_at"]), (&Value::Null, &Value::Null));

        server.caller(secret).get("/organization").await.expect(200);
        let used = caller.get("/api-keys").await.expect(200);
        assert!(
            self::row(&used.json, &made.id())["last_used_at"].as_str().unwrap() >= made["created_at"].as_str().unwrap()
        );
    }

    async fn a_revoked_key_is_rejected_and_others_stay_valid(server: TestServer) {
        let caller = server.organization("Keys").await;
        let stranger = server.organization("Stranger").await;
        let (first, second) = (new_key(&caller, "/api-keys").await, new_key(&caller, "/api-keys").await);
        stranger.delete(&format!("/api-keys/{}", first.id)).await.expect_error(404, "NOT_FOUND");
        assert!(works(&server, &first.secret).await);
        caller.delete(&format!("/api-keys/{}", first.id)).await.expect(204);
        assert!(!works(&server, &first.secret).await);
        assert!(works(&server, &second.secret).await);
        let listed = caller.get("/api-keys").await.expect(200);
        let revoked_at = row(&listed.json, &first.id)["revoked_at"].clone();
        assert!(revoked_at.is_string());
        caller.delete(&format!("/api-keys/{}", first.id)).await.expect(204);
        let again = caller.get("/api-keys").await.expect(200);
        assert_eq!(row(&again.json, &first.id)["revoked_at"], revoked_at);
    }

    /// A lookup that started before the revocation must not make the key valid again.
    async fn a_revocation_is_effective_at_once_for_a_key_in_full_use(server: TestServer) {
        let caller = server.organization("Keys").await;
        for _ in 0..10 {
            let key = new_key(&caller, "/api-keys").await;
            let users: Vec<_> = (0..8).map(|_| tokio::spawn(use_until_refused(server.caller(&key.secret)))).collect();
            caller.delete(&format!("/api-keys/{}", key.id)).await.expect(204);
            for _ in 0..5 {
                assert!(!works(&server, &key.secret).await);
            }
            for user in users {
                user.await.unwrap();
            }
        }
    }

    async fn the_last_key_of_an_organization_cannot_be_revoked(server: TestServer) {
        let caller = server.organization("Keys").await;
        let first = caller.get("/api-keys").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        caller.delete(&format!("/api-keys/{first}")).await.expect_error(409, "CONFLICT");
        let second = new_key(&caller, "/api-keys").await;
        let with_second = server.caller(&second.secret);
        with_second.delete(&format!("/api-keys/{first}")).await.expect(204);
        caller.get("/organization").await.expect_error(401, "UNAUTHORIZED");
        with_second.delete(&format!("/api-keys/{}", second.id)).await.expect_error(409, "CONFLICT");
        with_second.get("/organization").await.expect(200);
    }

    /// Two keys that revoke each other concurrently: one is left.
    async fn keys_that_revoke_each_other_leave_one(server: TestServer) {
        let caller = server.organization("Keys").await;
        let first = caller.get("/api-keys").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let others = join_all((0..4).map(|_| new_key(&caller, "/api-keys"))).await;
        let mut ids: Vec<String> = others.iter().map(|key| key.id.clone()).collect();
        ids.push(first);
        join_all(ids.iter().map(|id| {
            let caller = caller.clone();
            async move { caller.delete(&format!("/api-keys/{id}")).await }
        }))
        .await;
        let mut secrets: Vec<&str> = others.iter().map(|key| key.secret.as_str()).collect();
        secrets.push(caller.key());
        let working = join_all(secrets.into_iter().map(|secret| works(&server, secret))).await;
        assert!(working.contains(&true));
    }

    /// S4
    async fn a_key_revoked_on_one_node_is_rejected_on_another_within_a_second(server: TestServer) {
        let other_node = server.another_node().await;
        let caller = server.organization("Keys").await;
        let key = new_key(&caller, "/api-keys").await;
        assert!(works(&other_node, &key.secret).await);
        caller.delete(&format!("/api-keys/{}", key.id)).await.expect(204);
        let revoked = Instant::now();
        let mut last_accepted = Duration::ZERO;
        loop {
            let asked = revoked.elapsed();
            if !works(&other_node, &key.secret).await {
                break;
            }
            last_accepted = asked;
            assert!(asked < Duration::from_secs(5), "the key is never refused");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(last_accepted < Duration::from_secs(1), "accepted {last_accepted:?} after the revocation");
        assert!(works(&other_node, caller.key()).await);
    }

    async fn a_new_key_works_on_every_node_at_once(server: TestServer) {
        let other_node = server.another_node().await;
        let key = new_key(&server.organization("Keys").await, "/api-keys").await;
        assert!(works(&other_node, &key.secret).await);
    }

    async fn solvers_are_created_read_updated_and_deleted(server: TestServer) {
        let caller = server.organization("Solvers").await;
        let body =
            json!({"alias": "gpt-x_1.0", "real_name": "Größe", "agent_version": "1", "contact_email": "a@b.example"});
        let made = caller.post("/solvers", body).await.expect(201);
        let path = format!("/solvers/{}", made.id());
        assert_eq!(made.header("location"), Some(path.as_str()));
        assert_eq!((&made["alias"], &made["agent_description"]), (&json!("gpt-x_1.0"), &Value::Null));
        assert_eq!(caller.get(&path).await.expect(200).json, made.json);
        let changed = caller.patch(&path, json!({"alias": "gpt-y", "agent_version": null})).await.expect(200);
        assert_eq!(
            (&changed["alias"], &changed["agent_version"], &changed["real_name"]),
            (&json!("gpt-y"), &Value::Null, &json!("Größe"))
        );
        assert_eq!(caller.get("/solvers").await.expect(200).data(), std::slice::from_ref(&changed.json));
        caller.delete(&path).await.expect(204);
        caller.get(&path).await.expect_error(404, "NOT_FOUND");
        caller.delete(&path).await.expect_error(404, "NOT_FOUND");
        assert!(caller.get("/solvers").await.expect(200).data().is_empty());
    }

    async fn an_alias_is_safe_in_a_url_and_unique_in_its_organization(server: TestServer) {
        let caller = server.organization("Solvers").await;
        for bad in ["", "-a", ".a", "a/b", "a b", "ä", "a?b", &"a".repeat(65)] {
            let refused = caller.post("/solvers", json!({"alias": bad})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), ["alias"], "{bad}");
        }
        caller
            .post("/solvers", json!({"alias": "b", "contact_email": "nobody"}))
            .await
            .expect_error(400, "VALIDATION_ERROR");
        caller.post("/solvers", json!({"alias": "a"})).await.expect(201);
        let taken = caller.post("/solvers", json!({"alias": "a"})).await.expect_error(409, "CONFLICT");
        assert!(taken.message().contains("`a`"));
        let second = caller.post("/solvers", json!({"alias": "b"})).await.expect(201).id();
        caller.patch(&format!("/solvers/{second}"), json!({"alias": "a"})).await.expect_error(409, "CONFLICT");
        assert_eq!(caller.get(&format!("/solvers/{second}")).await.expect(200)["alias"], "b");
        server.organization("Other").await.post("/solvers", json!({"alias": "a"})).await.expect(201);
    }

    async fn only_one_of_many_solvers_with_the_same_alias_is_created(server: TestServer) {
        let caller = server.organization("Solvers").await;
        let answers = join_all((0..16).map(|_| caller.post("/solvers", json!({"alias": "same"})))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![201], vec![409; 15]].concat());
    }

    async fn a_solvers_keys_end_one_by_one_or_with_the_solver(server: TestServer) {
        let caller = server.organization("Solvers").await;
        let solver = caller.post("/solvers", json!({"alias": "a"})).await.expect(201).id();
        let other = caller.post("/solvers", json!({"alias": "b"})).await.expect(201).id();
        let keys = format!("/solvers/{solver}/api-keys");
        let (first, second) = (new_key(&caller, &keys).await, new_key(&caller, &keys).await);
        let kept = new_key(&caller, &format!("/solvers/{other}/api-keys")).await;
        assert!(first.secret.starts_with("vrl_slv_"));
        let listed = caller.get(&keys).await.expect(200);
        assert_eq!(listed.data().len(), 2);
        assert!(!listed.text().contains(&first.secret));
        assert!(!caller.get("/api-keys").await.expect(200).text().contains(&first.id));
        caller.delete(&format!("/api-keys/{}", first.id)).await.expect_error(404, "NOT_FOUND");
        caller.delete(&format!("/solvers/{other}/api-keys/{}", first.id)).await.expect_error(404, "NOT_FOUND");

        caller.delete(&format!("{keys}/{}", first.id)).await.expect(204);
        assert_eq!(status_of(&server, &first.secret).await, 401);
        assert_eq!(status_of(&server, &second.secret).await, 403);
        caller.delete(&format!("/solvers/{solver}")).await.expect(204);
        assert_eq!(status_of(&server, &second.secret).await, 401);
        assert_eq!(status_of(&server, &kept.secret).await, 403);
        caller.get(&keys).await.expect_error(404, "NOT_FOUND");
        caller.post(&keys, json!({"name": "late"})).await.expect_error(404, "NOT_FOUND");
    }

    async fn internal_endpoints_accept_only_organization_keys(server: TestServer) {
        let caller = server.organization("Solvers").await;
        let solver = caller.post("/solvers", json!({"alias": "a"})).await.expect(201).id();
        let key = new_key(&caller, &format!("/solvers/{solver}/api-keys")).await;
        let with_solver_key = server.caller(&key.secret);
        let mistyped = server.caller(&format!("{}x", caller.key()));
        let contract = Contract::load();
        let mut tried = 0;
        for (method, pattern) in contract.operations() {
            let operation = &contract.document()["paths"][&pattern][method.as_str().to_lowercase()];
            let takes_other_credentials = operation["security"].is_array();
            if takes_other_credentials {
                continue;
            }
            let path = pattern.replace(['{', '}'], "");
            with_solver_key.send(method.clone(), &path, &[], None).await.expect_error(403, "FORBIDDEN");
            for nobody in [&server.anonymous(), &mistyped] {
                let refused = nobody.send(method.clone(), &path, &[], None).await.expect_error(401, "UNAUTHORIZED");
                assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
            }
            tried += 1;
        }
        assert!(tried >= 50, "only {tried} operations are internal");
    }
}

struct Key {
    id: String,
    secret: String,
}

async fn new_key(caller: &Caller, path: &str) -> Key {
    let made = caller.post(path, json!({"name": "one more"})).await.expect(201);
    Key { id: made.id(), secret: made["key"].as_str().unwrap().to_owned() }
}

async fn status_of(server: &TestServer, secret: &str) -> u16 {
    server.caller(secret).get("/organization").await.status
}

/// Whether an organization key is accepted.
async fn works(server: &TestServer, secret: &str) -> bool {
    match status_of(server, secret).await {
        200 => true,
        401 => false,
        other => panic!("status {other}"),
    }
}

async fn use_until_refused(caller: Caller) {
    while caller.get("/organization").await.status == 200 {}
}

fn row<'a>(list: &'a Value, id: &str) -> &'a Value {
    list["data"].as_array().unwrap().iter().find(|row| row["id"] == id).expect("the row is listed")
}
