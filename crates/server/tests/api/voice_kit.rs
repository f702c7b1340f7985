//! Phone clients for tests: one over REST, one over a WebSocket.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::{Caller, TestResponse};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A timeout that is far longer than needed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// A call over REST.
pub(crate) struct Phone {
    pub(crate) caller: Caller,
    /// The path of calls: `/sandboxes/…/voice/calls`.
    pub(crate) path: String,
    pub(crate) call: String,
}

impl Phone {
    /// Dials, and returns what the line said first.
    pub(crate) async fn dial(caller: &Caller, path: &str) -> (Self, TestResponse) {
        let dialled = caller.post(path, json!({})).await.expect(201);
        let call = dialled["call"]["id"].as_str().unwrap().to_owned();
        (Self { caller: caller.clone(), path: path.to_owned(), call }, dialled)
    }

    /// Sends a turn, and returns the response.
    pub(crate) async fn act(&self, turn: Value) -> TestResponse {
        self.caller.post(&format!("{}/{}/turns", self.path, self.call), turn).await
    }

    /// Says something, and returns the text of the line's response.
    pub(crate) async fn says(&self, words: &str) -> String {
        heard(&self.act(json!({"say": words})).await.expect(201))
    }

    pub(crate) async fn presses(&self, keys: &str) -> String {
        let path = format!("{}/{}/dtmf", self.path, self.call);
        heard(&self.caller.post(&path, json!({"digits": keys})).await.expect(201))
    }

    pub(crate) async fn status(&self) -> String {
        let call = self.caller.get(&format!("{}/{}", self.path, self.call)).await.expect(200);
        call["status"].as_str().unwrap().to_owned()
    }

    /// All turns, without fields that differ between calls.
    pub(crate) async fn transcript(&self) -> Vec<Value> {
        let path = format!("{}/{}/turns?limit=100", self.path, self.call);
        self.caller.get(&path).await.expect(200).data().iter().map(without_call).collect()
    }
}

/// Everything the other side said, as one text.
pub(crate) fn heard(exchange: &TestResponse) -> String {
    let turns = exchange["turns"].as_array().unwrap().iter().filter(|turn| turn["speaker"] == "caller");
    turns.map(|turn| turn["text"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// A turn without fields that differ between calls.
pub(crate) fn without_call(turn: &Value) -> Value {
    let mut turn = turn.clone();
    for member in ["call_id", "at"] {
        turn.as_object_mut().unwrap().shift_remove(member).unwrap();
    }
    turn
}

/// A WebSocket to the server.
pub(crate) struct Socket(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(caller: &Caller, path: &str, protocol: Option<&str>) -> Result<Self, u16> {
        let address = caller.address(path).replacen("http", "ws", 1);
        let mut request = address.into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", caller.key()).parse().unwrap());
        if let Some(protocol) = protocol {
            request.headers_mut().insert("sec-websocket-protocol", protocol.parse().unwrap());
        }
        match tokio::time::timeout(TIMEOUT, connect_async(request)).await.expect("an answer to the handshake") {
            Ok((socket, response)) => {
                let chosen = response.headers().get("sec-websocket-protocol").map(|name| name.to_str().unwrap());
                assert_eq!(chosen, protocol);
                Ok(Self(socket))
            }
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.0.send(Message::Text(message.to_string().into())).await.unwrap();
    }

    /// The next message, or `None` when the connection ends.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match tokio::time::timeout(TIMEOUT, self.0.next()).await.expect("a message in time") {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    pub(crate) async fn expect(&mut self, kind: &str) -> Value {
        let message = self.next().await.expect("a message");
        assert_eq!(message["type"], kind, "{message}");
        message
    }
}
