//! Where things are: transformations of the plane (ISO 32000-1, 8.3).

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f32; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn moved(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this, then the other.
    pub(super) fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [p, q, r, s, t, u] = other.0;
        Self([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u])
    }

    pub(super) fn origin(self) -> (f32, f32) {
        let [.., x, y] = self.0;
        (x, y)
    }

    /// What a length of one along the first axis becomes.
    pub(super) fn along(self) -> (f32, f32) {
        let [a, b, ..] = self.0;
        (a, b)
    }

    /// What a height of one becomes.
    pub(super) fn height(self) -> f32 {
        let [_, _, c, d, ..] = self.0;
        (c * c + d * d).sqrt()
    }
}
