//! Colours: pictures are painted in roles, and a theme says what colour each role has.

/// What a picture is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark ink on white paper.
    #[default]
    Light,
    /// Pale ink on dark paper.
    Dark,
}

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// What something is painted for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Paint {
    /// The ground of everything.
    Paper,
    /// Text.
    Ink,
    /// Text and lines that matter less.
    FaintInk,
    /// Lines between cells.
    Grid,
    /// Gold links.
    Gold,
    /// A number from 0 to 1; below counts as 0, above as 1.
    Weight(f32),
    /// Text on that.
    OnWeight(f32),
    /// Line `index` of a chart.
    Line(usize),
    /// Text on that.
    OnLine(usize),
}

/// Eleven equal steps of lightness in Björn Ottosson's `OKLab`, from nearly paper to navy, hue 250°–264°, so that equal
/// differences of weight look equally different, in grey as well: `L = 0.985 − 0.695 t`, `C = 0.004 + 0.34 t (1 − t) + 0.085 t`.
const LIGHT_RAMP: [Rgb; 11] = [
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

/// The same from nearly dark paper to pale blue: `L = 0.23 + 0.7 t`, `C = 0.035 + 0.306 t (1 − t)`, hue 262°–248°.
const DARK_RAMP: [Rgb; 11] = [
    Rgb(20, 29, 45),
    Rgb(27, 45, 77),
    Rgb(35, 63, 108),
    Rgb(45, 82, 136),
    Rgb(58, 103, 163),
    Rgb(74, 124, 187),
    Rgb(94, 146, 208),
    Rgb(118, 168, 225),
    Rgb(146, 191, 239),
    Rgb(178, 213, 249),
    Rgb(214, 235, 255),
];

/// Okabe and Ito's colours for lines, darkest first, without the yellow that paper swallows.
const LIGHT_LINES: [Rgb; 7] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(86, 180, 233),
    Rgb(0, 0, 0),
    Rgb(230, 159, 0),
];

/// The same with yellow, and without black and the darker blue, which dark paper swallows.
const DARK_LINES: [Rgb; 7] = [
    Rgb(86, 180, 233),
    Rgb(230, 159, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(240, 228, 66),
    Rgb(229, 231, 235),
    Rgb(213, 94, 0),
];

impl Theme {
    /// The colour of a role.
    pub(crate) fn colour(self, paint: Paint) -> Rgb {
        match paint {
            Paint::Paper => self.pick(Rgb(255, 255, 255), Rgb(17, 24, 39)),
            Paint::Ink => self.pick(Rgb(31, 41, 55), Rgb(229, 231, 235)),
            Paint::FaintInk => self.pick(Rgb(100, 110, 125), Rgb(156, 163, 175)),
            Paint::Grid => self.pick(Rgb(222, 227, 234), Rgb(55, 65, 81)),
            // Orange on blue: told apart in every kind of colour blindness.
            Paint::Gold => self.pick(Rgb(230, 97, 1), Rgb(255, 159, 64)),
            Paint::Weight(weight) => between(self.pick(&LIGHT_RAMP, &DARK_RAMP), weight),
            Paint::OnWeight(weight) => self.text_on(Paint::Weight(weight)),
            Paint::Line(index) => self.pick(LIGHT_LINES, DARK_LINES)[index % LIGHT_LINES.len()],
            Paint::OnLine(index) => self.text_on(Paint::Line(index)),
        }
    }

    fn pick<C>(self, light: C, dark: C) -> C {
        match self {
            Self::Light => light,
            Self::Dark => dark,
        }
    }

    /// The colour, ink or paper, that reads better on `background`.
    fn text_on(self, background: Paint) -> Rgb {
        let background = self.colour(background);
        let (ink, paper) = (self.colour(Paint::Ink), self.colour(Paint::Paper));
        if contrast(ink, background) >= contrast(paper, background) { ink } else { paper }
    }

    /// A colour as CSS has it.
    pub(crate) fn hex(self, paint: Paint) -> String {
        let Rgb(r, g, b) = self.colour(paint);
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

/// Whether a cell of this weight can be told from an empty one.
pub(crate) fn is_visible(weight: f32) -> bool {
    Theme::Light.colour(Paint::Weight(weight)) != Theme::Light.colour(Paint::Weight(0.0))
}

fn between(ramp: &[Rgb; 11], weight: f32) -> Rgb {
    let position = weight.clamp(0.0, 1.0) * (ramp.len() - 1) as f32;
    let below = (position as usize).min(ramp.len() - 2);
    let part = position - below as f32;
    let (Rgb(r, g, b), Rgb(r2, g2, b2)) = (ramp[below], ramp[below + 1]);
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * part).round() as u8;
    Rgb(mix(r, r2), mix(g, g2), mix(b, b2))
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

    const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

    fn ramp(theme: Theme, weight: f32) -> Rgb {
        theme.colour(Paint::Weight(weight))
    }

    #[test]
    fn ramps_leave_the_paper_step_by_step() {
        for (theme, colours) in THEMES.into_iter().zip([LIGHT_RAMP, DARK_RAMP]) {
            assert_eq!((ramp(theme, -1.0), ramp(theme, 0.0)), (colours[0], colours[0]));
            assert_eq!((ramp(theme, 1.0), ramp(theme, 7.0)), (colours[10], colours[10]));
            let paper = theme.colour(Paint::Paper);
            let away = |i: u8| (luminance(ramp(theme, f32::from(i) / 100.0)) - luminance(paper)).abs();
            let shades: Vec<f32> = (0..=100).map(away).collect();
            assert!(shades.windows(2).all(|pair| pair[1] > pair[0]));
            assert!(contrast(ramp(theme, 0.0), paper) < 1.1);
        }
        assert_eq!(ramp(Theme::Light, 0.35), Rgb(123, 175, 240));
        assert_eq!(ramp(Theme::Dark, 0.35), Rgb(52, 93, 150));
    }

    #[test]
    fn everything_is_legible() {
        for theme in THEMES {
            let on_paper = |paint| contrast(theme.colour(paint), theme.colour(Paint::Paper));
            assert!(on_paper(Paint::Ink) > 12.0 && on_paper(Paint::FaintInk) > 4.5, "{theme:?}");
            assert!(on_paper(Paint::Gold) > 3.0);
            for i in 0..=100_u8 {
                let weight = f32::from(i) / 100.0;
                let ratio = contrast(theme.colour(Paint::OnWeight(weight)), ramp(theme, weight));
                assert!(ratio > 3.8, "{theme:?} {weight} {ratio}");
            }
            for index in 0..7 {
                assert!(on_paper(Paint::Line(index)) > 2.1, "{theme:?} {index}");
                let on_line = contrast(theme.colour(Paint::OnLine(index)), theme.colour(Paint::Line(index)));
                assert!(on_line > 3.0, "{theme:?} {index} {on_line}");
            }
        }
    }
}
