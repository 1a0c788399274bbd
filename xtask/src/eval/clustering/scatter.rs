//! A sample of points, the truth or the baseline, and the private centres of one release.

use crate::error::Error;
use crate::eval::clustering::centres::FirstRun;
use crate::eval::clustering::cloud::Cloud;
use crate::report::plot::axis::extent;
use crate::report::plot::canvas::{self, Anchor, Ink, Svg};

const SIZE: (u32, u32) = (540, 470);
const LEFT: f64 = 10.0;
const RIGHT: f64 = 530.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 425.0;

/// Draws the cloud with the private centres; rings are the true centres where they are known, and
/// the non-private baseline's elsewhere.
pub(crate) fn draw(
    cloud: &Cloud,
    label: &str,
    private: &FirstRun,
    baseline: Option<&FirstRun>,
) -> Result<Svg, Error> {
    let centres = cloud.project_all(private.centres.view());
    let (rings, ring_name) = match (&cloud.true_centres, baseline) {
        (Some(truth), _) => (truth.clone(), "true centres".to_owned()),
        (None, Some(first)) => {
            let name = format!("centres of {} (not private)", first.algorithm);
            (cloud.project_all(first.centres.view()), name)
        }
        (None, None) => (Vec::new(), String::new()),
    };
    let place = placement(&[&cloud.points, &rings, &centres]);
    let title = format!("First two principal axes, {label}, first run");
    canvas::draw(&title, SIZE, |canvas| {
        canvas.text(&title, (LEFT, 20.0), Anchor::Start, 15.0, Ink::Text)?;
        let frame = [(LEFT, TOP), (RIGHT, TOP), (RIGHT, BOTTOM), (LEFT, BOTTOM), (LEFT, TOP)];
        for side in frame.windows(2) {
            canvas.line(side[0], side[1], Ink::Grid, 1)?;
        }
        for &point in &cloud.points {
            canvas.dot(place(point), 2, Ink::Muted, 0.35)?;
        }
        for &ring in &rings {
            canvas.ring(place(ring), 7, Ink::First)?;
        }
        for &centre in &centres {
            canvas.cross(place(centre), 4.0, Ink::Second)?;
        }
        let y = BOTTOM + 24.0;
        canvas.dot((LEFT + 6.0, y), 3, Ink::Muted, 0.6)?;
        canvas.text("points (sample)", (LEFT + 16.0, y), Anchor::Start, 12.0, Ink::Muted)?;
        canvas.cross((LEFT + 126.0, y), 4.0, Ink::Second)?;
        canvas.text("private centres", (LEFT + 136.0, y), Anchor::Start, 12.0, Ink::Muted)?;
        if !rings.is_empty() {
            canvas.ring((LEFT + 246.0, y), 6, Ink::First)?;
            canvas.text(&ring_name, (LEFT + 259.0, y), Anchor::Start, 12.0, Ink::Muted)?;
        }
        Ok(())
    })
}

/// Equal scales on both axes: a round cluster looks round.
fn placement(groups: &[&[(f64, f64)]]) -> impl Fn((f64, f64)) -> (f64, f64) + use<> {
    let all = || groups.iter().copied().flatten();
    let (left, right) = extent(&all().map(|&(x, _)| x).collect::<Vec<_>>()).unwrap_or((0.0, 1.0));
    let (low, high) = extent(&all().map(|&(_, y)| y).collect::<Vec<_>>()).unwrap_or((0.0, 1.0));
    let room = 14.0;
    let (width, height) = (RIGHT - LEFT - 2.0 * room, BOTTOM - TOP - 2.0 * room);
    // The tiny floor only matters when all points are equal.
    let scale = (width / (right - left).max(1e-9)).min(height / (high - low).max(1e-9));
    let middle = (f64::midpoint(left, right), f64::midpoint(low, high));
    move |(x, y)| {
        let from_middle = ((x - middle.0) * scale, (y - middle.1) * scale);
        (f64::midpoint(LEFT, RIGHT) + from_middle.0, f64::midpoint(TOP, BOTTOM) - from_middle.1)
    }
}

#[cfg(test)]
mod tests {
    use super::{BOTTOM, LEFT, RIGHT, TOP, placement};

    #[test]
    fn everything_is_inside_and_scales_are_equal() {
        let points = [(0.0, 0.0), (10.0, 0.0), (0.0, 100.0), (10.0, 100.0)];
        let place = placement(&[&points]);
        for &point in &points {
            let (x, y) = place(point);
            assert!((LEFT..RIGHT).contains(&x) && (TOP..BOTTOM).contains(&y), "{x} {y}");
        }
        let (origin, right, up) = (place((0.0, 0.0)), place((10.0, 0.0)), place((0.0, 10.0)));
        assert!(((right.0 - origin.0) - (origin.1 - up.1)).abs() < 1e-9);
    }

    #[test]
    fn equal_points_sit_in_the_middle() {
        let place = placement(&[&[(3.0, 3.0), (3.0, 3.0)]]);
        let (x, y) = place((3.0, 3.0));
        assert!((x - 270.0).abs() < 1e-9 && (y - 232.5).abs() < 1e-9);
    }
}
