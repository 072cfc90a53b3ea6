//! Colours: one ramp for weights, and a few names for everything else.

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) const PAPER: Rgb = Rgb(255, 255, 255);
pub(crate) const INK: Rgb = Rgb(31, 41, 55);
pub(crate) const FAINT_INK: Rgb = Rgb(100, 110, 125);
pub(crate) const GRID: Rgb = Rgb(222, 227, 234);
/// Orange on blue: told apart in every kind of colour blindness.
pub(crate) const GOLD: Rgb = Rgb(230, 97, 1);

/// Eleven equal steps of lightness in Björn Ottosson's `OKLab`, from nearly paper to navy, hue 250°–264°, so that equal
/// differences of weight look equally different, in grey as well: `L = 0.985 − 0.695 t`, `C = 0.004 + 0.34 t (1 − t) + 0.085 t`.
const RAMP: [Rgb; 11] = [
    Rgb(248, 250, 253),
    Rgb(207, 230, 255),
    Rgb(170, 208, 253),
    Rgb(137, 186, 246),
    Rgb(109, 163, 234),
    Rgb(84, 140, 218),
    Rgb(65, 118, 198),
    Rgb(49, 96, 174),
    Rgb(37, 76, 148),
    Rgb(27, 57, 118),
    Rgb(20, 40, 87),
];

/// Okabe and Ito's colours for lines, darkest first, without the yellow that paper swallows.
const LINES: [Rgb; 7] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(86, 180, 233),
    Rgb(0, 0, 0),
    Rgb(230, 159, 0),
];

/// The colour of a weight; below 0 counts as 0, above 1 as 1.
pub(crate) fn ramp(weight: f32) -> Rgb {
    let position = weight.clamp(0.0, 1.0) * (RAMP.len() - 1) as f32;
    let below = (position as usize).min(RAMP.len() - 2);
    let part = position - below as f32;
    let (Rgb(r, g, b), Rgb(r2, g2, b2)) = (RAMP[below], RAMP[below + 1]);
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * part).round() as u8;
    Rgb(mix(r, r2), mix(g, g2), mix(b, b2))
}

/// The colour, ink or paper, that reads better on `background`.
pub(crate) fn text_on(background: Rgb) -> Rgb {
    let contrast_of = |text: Rgb| contrast(text, background);
    if contrast_of(INK) >= contrast_of(PAPER) { INK } else { PAPER }
}

/// The colour of line `index` of a chart.
pub(crate) fn line(index: usize) -> Rgb {
    LINES[index % LINES.len()]
}

/// WCAG 2 contrast ratio, 1 to 21.
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG 2 relative luminance, 0 to 1.
fn luminance(Rgb(r, g, b): Rgb) -> f32 {
    let linear = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_runs_from_paper_to_navy_and_only_gets_darker() {
        assert_eq!((ramp(-1.0), ramp(0.0)), (RAMP[0], RAMP[0]));
        assert_eq!((ramp(1.0), ramp(7.0)), (RAMP[10], RAMP[10]));
        assert_eq!(ramp(0.35), Rgb(123, 175, 240));
        let shades: Vec<f32> = (0..=100).map(|i| luminance(ramp(i as f32 / 100.0))).collect();
        assert!(shades.windows(2).all(|pair| pair[1] < pair[0]));
        assert!(contrast(ramp(0.0), PAPER) < 1.1);
    }

    #[test]
    fn numbers_are_legible_on_every_weight() {
        for i in 0..=100 {
            let background = ramp(i as f32 / 100.0);
            assert!(contrast(text_on(background), background) > 3.8, "{background:?}");
        }
    }
}
