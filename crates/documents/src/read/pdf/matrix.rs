//! Affine transformations (ISO 32000-1, 8.3).

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix(pub(super) [f32; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn moved(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Applies this transformation, then the other.
    pub(super) fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [p, q, r, s, t, u] = other.0;
        Self([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u])
    }

    pub(super) fn origin(self) -> (f32, f32) {
        let [.., x, y] = self.0;
        (x, y)
    }

    /// The scale along the first axis.
    pub(super) fn along(self) -> (f32, f32) {
        let [a, b, ..] = self.0;
        (a, b)
    }

    /// The scale along the second axis.
    pub(super) fn height(self) -> f32 {
        let [_, _, c, d, ..] = self.0;
        (c * c + d * d).sqrt()
    }

    pub(super) fn apply(self, (x, y): (f32, f32)) -> (f32, f32) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// The inverse. None if the matrix is singular.
    pub(super) fn inverse(self) -> Option<Self> {
        let [a, b, c, d, e, f] = self.0;
        let area = a * d - b * c;
        let inverse = Self([d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area]);
        inverse.0.iter().all(|number| number.is_finite()).then_some(inverse)
    }

    /// The mean scale.
    pub(super) fn scale(self) -> f32 {
        let [a, b, c, d, ..] = self.0;
        (a * d - b * c).abs().sqrt()
    }

    /// The smaller scale of width and height, also if they are no longer perpendicular.
    pub(super) fn smaller_side(self) -> f32 {
        let [a, b, c, d, ..] = self.0;
        let (width, height) = ((a * a + b * b).sqrt(), (c * c + d * d).sqrt());
        let longer = width.max(height);
        let across = if longer > 0.0 { (a * d - b * c).abs() / longer } else { 0.0 };
        width.min(height).min(across)
    }
}
