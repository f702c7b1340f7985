//! `/llms.txt`: the index of the manual.

use testkit::both_databases;

both_databases! {
    async fn the_index_of_the_manual_is_served_to_anyone(server: TestServer) {
        let response = server.anonymous().get("/llms.txt").await.expect(200);
        let text = String::from_utf8(response.body.clone()).unwrap();
        assert!(text.starts_with("# Verial\n\n> "), "{text}");
        for link in ["](/openapi.json)", "[Quick start](docs/quick-start.md): Start a server", "](docs/criteria.md)"] {
            assert!(text.contains(link), "{link}: {text}");
        }
        assert!(response.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    }
}
