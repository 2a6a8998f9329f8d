//! Follows the slope of a misfit to the circle through some points: circle.smooth has both.

mod circle {
    include!(concat!(env!("OUT_DIR"), "/circle.rs"));
}

use circle::{Error, Workspace};

fn main() -> Result<(), Error> {
    let points = [3.0, 2.0, 1.0, 4.0, -1.0, 2.0, 1.0, 0.0];
    let mut guess = [0.0, 0.0, 1.0];
    let mut step = [0.0; 3];
    let mut workspace = Workspace::new();
    for _ in 0..200 {
        circle::slope(4, &guess, &points, &mut step, &mut workspace)?;
        for (value, slope) in guess.iter_mut().zip(step) {
            *value -= 0.2 * slope;
        }
    }
    let left = circle::misfit(4, &guess, &points, &mut workspace)?;
    println!("centre {:.4} {:.4}, radius {:.4}, misfit {left:.1e}", guess[0], guess[1], guess[2]);
    let wrong = circle::misfit(5, &guess, &points, &mut workspace);
    assert_eq!(wrong, Err(Error::Length { parameter: "points", found: 8, expected: 10 }));
    Ok(())
}
