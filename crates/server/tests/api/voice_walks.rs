//! Every path through a line of thirty nodes over REST, a WebSocket and a relay: the transcripts are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use testkit::world::voice_sandbox;
use testkit::{Caller, both_databases};

use crate::voice_kit::{Phone, Socket, without_call};

/// Three menus over collects, lookups, holds, representatives and endings: thirty nodes without a cycle.
fn thirty_nodes() -> Value {
    let mut nodes = Map::new();
    let mut add = |name: String, node: Value| nodes.insert(name, node);
    add("welcome".into(), json!({"type": "say", "prompt": "Welcome.", "next": "main"}));
    let departments: Vec<Value> = (1..=4)
        .map(|n| json!({"dtmf": n.to_string(), "phrases": [format!("department {n}")], "next": format!("d{n}")}))
        .collect();
    add(
        "main".into(),
        json!({"type": "menu", "prompt": "Which department?", "options": departments, "otherwise": "message", "retries": 1}),
    );
    for n in 1..=4 {
        let (ask, find, wait, person, out) =
            (format!("ask{n}"), format!("find{n}"), format!("wait{n}"), format!("person{n}"), format!("out{n}"));
        add(
            format!("d{n}"),
            json!({"type": "menu", "prompt": format!("Department {n}. Claims or people?"),
            "options": [{"dtmf": "1", "phrases": ["claims"], "next": ask}, {"dtmf": "2", "phrases": ["people"], "next": wait}],
            "otherwise": "goodbye", "retries": 0}),
        );
        let kind = ["digits", "date", "name", "free"][n - 1];
        add(
            ask,
            json!({"type": "collect", "prompt": format!("Your {kind}?"), "field": format!("f{n}"), "kind": kind,
            "confirm": n == 1, "next": find, "otherwise": "goodbye", "retries": 0}),
        );
        add(
            find,
            json!({"type": "lookup", "source": "rows", "resource": "claims", "match": {"id": format!("{{{{field.f{n}}}}}")},
            "found": "goodbye", "not_found": out}),
        );
        add(wait, json!({"type": "hold", "prompt": "Please hold.", "seconds": 60 * n, "next": person}));
        add(
            person,
            json!({"type": "representative", "prompt": format!("Person {n} here."),
            "beats": [{"phrases": ["question"], "answer": format!("Answer {n}.")}], "next": if n < 3 { json!(out) } else { json!(null) }}),
        );
        add(
            out,
            json!({"type": "transfer", "prompt": format!("Connecting {n}."), "number": format!("+1555010010{n}")}),
        );
    }
    add("message".into(), json!({"type": "voicemail", "prompt": "Leave a message.", "max_seconds": 2}));
    add("goodbye".into(), json!({"type": "hangup", "prompt": "Goodbye."}));
    for node in nodes.values_mut() {
        node.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    }
    assert_eq!(nodes.len(), 28);
    nodes["welcome"]["next"] = json!("hours");
    nodes.insert("hours".into(), json!({"type": "say", "prompt": "We are open.", "next": "terms"}));
    nodes.insert(
        "terms".into(),
        json!({"type": "hold", "prompt": "This call is recorded.", "seconds": 0, "next": "main"}),
    );
    json!({"ivr": {"start": "welcome", "nodes": nodes}})
}

/// The inputs at a listening node that cover all of its edges.
fn acts(node: &Value) -> Vec<Value> {
    match node["type"].as_str().unwrap() {
        "menu" => {
            let options = node["options"].as_array().unwrap().iter();
            let mut acts: Vec<Value> =
                options
                    .enumerate()
                    .map(|(at, option)| {
                        if at % 2 == 0 { json!({"say": option["phrases"][0]}) } else { json!({"dtmf": option["dtmf"]}) }
                    })
                    .collect();
            acts.push(json!({"silence": true}));
            acts
        }
        "collect" => match node["kind"].as_str().unwrap() {
            "digits" => vec![json!({"dtmf": "4711#"}), json!({"silence": true})],
            "date" => vec![json!({"say": "March first 1980"}), json!({"say": "no idea"})],
            "name" => vec![json!({"say": "my name is Ada Stone"}), json!({"silence": true})],
            _ => vec![json!({"say": "{{field.f1}} .* *|gt1"})],
        },
        "representative" => vec![json!({"say": "I have a question"}), json!({"say": "That is all, goodbye"})],
        _ => vec![json!({"say": "Please call Ada Stone back today or tomorrow"}), json!({"silence": true})],
    }
}

/// The node at which the line waits, found by its prompt.
fn stands_at<'a>(nodes: &'a Map<String, Value>, turns: &[Value]) -> Option<(&'a String, &'a Value)> {
    let last = turns.iter().rev().find(|turn| turn["speaker"] == "caller")?["text"].as_str()?;
    let listens =
        |node: &Value| ["menu", "collect", "representative", "voicemail"].contains(&node["type"].as_str().unwrap());
    nodes.iter().filter(|(_, node)| listens(node)).find(|(_, node)| last.ends_with(node["prompt"].as_str().unwrap()))
}

/// All walks of the line, each a list of inputs until the line hangs up. Found by depth-first search, so that
/// every input of every node is in one of them.
async fn walks(caller: &Caller, calls: &str, nodes: &Map<String, Value>) -> (Vec<Vec<Value>>, BTreeMap<String, usize>) {
    let (mut open, mut whole, mut visits) = (vec![Vec::<Value>::new()], Vec::new(), BTreeMap::new());
    let mut tried = BTreeSet::new();
    while let Some(walk) = open.pop() {
        let (phone, _) = Phone::dial(caller, calls).await;
        for act in &walk {
            phone.act(act.clone()).await.expect(201);
        }
        let turns = phone.transcript().await;
        if phone.status().await != "in_progress" {
            whole.push(walk);
            continue;
        }
        let last = turns.last().unwrap()["text"].as_str().unwrap().to_owned();
        // Says yes to a confirmation, nothing more after an answer, and stays silent when asked again.
        let follows = match stands_at(nodes, &turns) {
            Some((name, node)) if !last.starts_with("I'm sorry") => {
                *visits.entry(name.clone()).or_insert(0) += 1;
                acts(node)
            }
            Some(_) => vec![json!({"silence": true})],
            None if last.starts_with("I have") => vec![json!({"say": "yes"})],
            None => vec![json!({"say": "Thank you, goodbye"})],
        };
        for act in follows {
            // A representative behaves the same from everywhere, so one walk is enough.
            if tried.insert((walk.clone().into_iter().map(|act| act.to_string()).collect::<Vec<_>>(), act.to_string()))
            {
                open.push([walk.clone(), vec![act]].concat());
            }
        }
    }
    (whole, visits)
}

/// The transcript of a walk over the native WebSocket protocol.
async fn over_a_stream(caller: &Caller, path: &str, walk: &[Value]) -> Vec<Value> {
    let mut socket = Socket::open(caller, path, Some("verial.voice.v1")).await.unwrap();
    socket.expect("call").await;
    let mut turns = Vec::new();
    let mut acts = walk.iter();
    loop {
        // The line's turns after an input end with the prompt for the next input.
        let message = socket.next().await.expect("a message before the end");
        match message["type"].as_str().unwrap() {
            "turn" => turns.push(without_call(&message["turn"])),
            "ended" => break,
            other => panic!("{other}: {message}"),
        }
        if is_prompt(turns.last().unwrap())
            && let Some(act) = acts.next()
        {
            socket.send(act.clone()).await;
        }
    }
    assert!(socket.next().await.is_none(), "the connection ends with the call");
    turns
}

/// Whether the line listens after this turn.
fn is_prompt(turn: &Value) -> bool {
    let text = turn["text"].as_str().unwrap();
    turn["speaker"] == "caller"
        && ![
            "Welcome.",
            "We are open.",
            "This call is recorded.",
            "Please hold.",
            "Goodbye.",
            "Thank you for calling. Goodbye.",
        ]
        .contains(&text)
        && !text.starts_with("Connecting")
}

/// The call of a walk over a relay; its transcript is read over REST.
async fn over_a_relay(caller: &Caller, voice: &str, walk: &[Value]) -> Vec<Value> {
    let mut socket = Socket::open(caller, &format!("{voice}/stream?protocol=conversation-relay"), None).await.unwrap();
    let call = socket.expect("setup").await["callSid"].as_str().unwrap().to_owned();
    let mut acts = walk.iter();
    while let Some(message) = socket.next().await {
        if message["type"] == "interrupt" {
            continue;
        }
        let heard = json!({"speaker": "caller", "text": message["voicePrompt"]});
        if is_prompt(&heard)
            && let Some(act) = acts.next()
        {
            relay(&mut socket, act).await;
        }
    }
    Phone { caller: caller.clone(), path: format!("{voice}/calls"), call }.transcript().await
}

/// Text arrives in several messages.
async fn relay(socket: &mut Socket, act: &Value) {
    if let Some(digits) = act["dtmf"].as_str() {
        return socket.send(json!({"type": "sendDigits", "digits": digits})).await;
    }
    let words: Vec<char> = act["say"].as_str().unwrap_or_default().chars().collect();
    for piece in words.chunks(7) {
        socket.send(json!({"type": "text", "token": piece.iter().collect::<String>(), "last": false})).await;
    }
    socket.send(json!({"type": "text", "token": "", "last": true})).await;
}

both_databases! {
    async fn every_path_through_thirty_nodes_is_the_same_over_rest_stream_and_relay(server: TestServer) {
        let author = server.organization("Acme").await;
        let config = thirty_nodes();
        let nodes = config["ivr"]["nodes"].as_object().unwrap();
        assert_eq!(nodes.len(), 30);
        let sandbox = voice_sandbox(&author, config.clone()).await.id();
        let voice = format!("/sandboxes/{sandbox}/voice");
        let (walks, visits) = walks(&author, &format!("{voice}/calls"), nodes).await;
        let listening = nodes.values().filter(|node| ["menu", "collect", "representative", "voicemail"].contains(&node["type"].as_str().unwrap()));
        assert_eq!(visits.len(), listening.count(), "every node that listens was stood at: {visits:?}");
        assert!(walks.len() >= 20, "{} walks", walks.len());
        let mut said = BTreeSet::new();
        for walk in &walks {
            let (phone, _) = Phone::dial(&author, &format!("{voice}/calls")).await;
            for act in walk {
                phone.act(act.clone()).await.expect(201);
            }
            let over_rest = phone.transcript().await;
            assert_eq!(over_a_stream(&author, &format!("{voice}/stream"), walk).await, over_rest, "{walk:?}");
            assert_eq!(over_a_relay(&author, &voice, walk).await, over_rest, "{walk:?}");
            said.extend(over_rest.iter().filter(|turn| turn["speaker"] == "caller").map(|turn| turn["text"].as_str().unwrap().to_owned()));
        }
        let prompts = nodes.values().filter_map(|node| node["prompt"].as_str());
        for prompt in prompts {
            assert!(said.iter().any(|text| text.ends_with(prompt)), "{prompt} was heard");
        }
        eprintln!("{} walks to every leaf", walks.len());
    }
}
