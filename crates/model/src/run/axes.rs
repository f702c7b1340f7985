//! Axis scores in API responses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use crate::score::Axes;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShownAxis {
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    pub score: Number,
    /// The total weight of its criteria.
    #[schema(value_type = f64, minimum = 0)]
    pub weight: Number,
}

/// Axis scores by name; criteria without an axis are under `__default__`.
pub type ShownAxes = BTreeMap<String, ShownAxis>;

pub fn shown_axes(axes: &Axes) -> ShownAxes {
    let to_shown = |(name, axis): (&String, &crate::score::AxisScore)| {
        (name.clone(), ShownAxis { score: axis.score.number(), weight: axis.weight_number() })
    };
    axes.iter().map(to_shown).collect()
}
