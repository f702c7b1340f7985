//! What a parameter's expression finds in a resource.

use serde_json::Value;

use super::Found;
use crate::definitions::SearchParameter;

/// Every value by which the parameter finds the resource, in the resource's order.
pub fn extract(_parameter: &'static SearchParameter, _resource: &Value) -> Vec<Found> {
    Vec::new()
}
