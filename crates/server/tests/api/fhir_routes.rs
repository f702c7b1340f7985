//! URLs that R4 clients rely on.

use reqwest::Method;
use serde_json::json;
use testkit::both_databases;

use crate::fhir_client::Ehr;

both_databases! {
    async fn a_binary_is_sent_as_raw_bytes(server: TestServer) {
        let caller = server.organization("Acme").await;
        let ehr = Ehr::over(&caller, &[]).await;
        let bytes = vec![0_u8, 159, 146, 150, 255];
        let sent = Some(("application/pdf", bytes.clone()));
        caller.send_bytes(Method::PUT, &ehr.path("Binary/scan"), &[], sent).await.expect(201);
        let reader = ehr.smart(&server, "system/Binary.r").await;
        let read = reader.ask_with(Method::GET, "Binary/scan", &[("accept", "*/*")], None).await.expect(200);
        assert_eq!((&read.body, read.headers["content-type"].to_str().unwrap()), (&bytes, "application/pdf"));
        let json = ehr.ask_with(Method::GET, "Binary/scan", &[("accept", "application/fhir+json")], None).await;
        assert_eq!(json.expect(200)["data"], "AJ+Slv8=");
    }

    async fn compartments_and_all_types_can_be_searched(server: TestServer) {
        let caller = server.organization("Acme").await;
        let patient = json!({"resourceType": "Patient", "id": "p"});
        let ehr = Ehr::over(&caller, &[patient]).await;
        let observation = json!({"resourceType": "Observation", "id": "o", "status": "final", "code": {"text": "Pulse"},
            "subject": {"reference": "Patient/p"}});
        ehr.put("Observation/o", &observation).await.expect(201);
        assert_eq!(ehr.total("Patient/p/Observation").await, 1);
        assert_eq!(ehr.total("Patient/p/*").await, 2);
        assert_eq!(ehr.total("?_type=Patient,Observation").await, 2);
        assert_eq!(ehr.total("Observation/$lastn?patient=p").await, 1);
        ehr.ask(Method::DELETE, "Observation?subject=Patient/p", None).await.expect(204);
        assert_eq!(ehr.total("Patient/p/*").await, 1);
    }
}
