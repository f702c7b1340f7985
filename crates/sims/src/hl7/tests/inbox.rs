//! Inbox messages.

use model::page::PageRequest;
use serde_json::json;

use super::super::inbox::{get, list, mark};
use super::{Interface, strict, update};

fn ids(interface: &mut Interface, read: Option<bool>, page: &PageRequest) -> Vec<String> {
    let (page, _) = interface.run(|world, sandbox, context| list(world, sandbox, "agent", (read, page), context));
    page.items.into_iter().map(|message| message.id).collect()
}

fn seeded() -> Interface {
    let seed = |id: &str, after: i64| json!({"message": update(id).replace('\r', "\n"), "after_seconds": after});
    Interface::new(json!({"inbox": [seed("1", 0), seed("2", 60), seed("3", 0)]}))
}

#[test]
fn configured_messages_arrive_when_they_are_due() {
    let mut interface = seeded();
    let all = PageRequest::default();
    assert_eq!(ids(&mut interface, None, &all), ["hl7_seed_0003", "hl7_seed_0001"]);
    interface.now = interface.now.plus_milliseconds(60_000);
    assert_eq!(ids(&mut interface, None, &all), ["hl7_seed_0002", "hl7_seed_0003", "hl7_seed_0001"]);
    let (found, changes) =
        interface.run(|world, sandbox, context| get(world, sandbox, "agent", "hl7_seed_0002", context));
    let found = found.unwrap();
    assert_eq!((found.message_type.as_str(), found.control_id.as_str(), found.read), ("ADT^A08", "2", false));
    assert_eq!(found.payload, update("2"));
    assert_eq!((found.received_at, changes), (interface.now, 0));
    assert_eq!(interface.last_event(), json!({"action": "read", "id": "hl7_seed_0002"}));
}

#[test]
fn messages_are_marked_as_read() {
    let mut interface = seeded();
    let (marked, changes) =
        interface.run(|world, sandbox, context| mark(world, sandbox, "agent", ("hl7_seed_0003", true), context));
    assert!(marked.unwrap().read && changes == 1);
    let all = PageRequest::default();
    assert_eq!(ids(&mut interface, Some(false), &all), ["hl7_seed_0001"]);
    assert_eq!(ids(&mut interface, Some(true), &all), ["hl7_seed_0003"]);
    assert_eq!(ids(&mut interface, None, &all).len(), 2);
    for missing in ["hl7_seed_0002", "hl7_seed_9", "", "../x"] {
        let (marked, changes) =
            interface.run(|world, sandbox, context| mark(world, sandbox, "agent", (missing, true), context));
        assert!(marked.is_none() && changes == 0, "{missing}");
    }
}

#[test]
fn pagination_works_in_both_directions() {
    let mut interface = seeded();
    let mut page = PageRequest { limit: 1, cursor: None };
    let (first, _) = interface.run(|world, sandbox, context| list(world, sandbox, "agent", (None, &page), context));
    page.cursor = first.next;
    assert_eq!((first.items[0].id.as_str(), first.prev), ("hl7_seed_0003", None));
    let (second, _) = interface.run(|world, sandbox, context| list(world, sandbox, "agent", (None, &page), context));
    assert_eq!((second.items[0].id.as_str(), second.next), ("hl7_seed_0001", None));
    page.cursor = second.prev;
    assert_eq!(ids(&mut interface, None, &page), ["hl7_seed_0003"]);
    assert_eq!(ids(&mut strict(), None, &PageRequest::default()), Vec::<String>::new());
}
