//! Interventions: their text form, and what they do inside of models.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/models.rs"]
mod models;

use std::sync::Arc;

use models::{LOOKING, network, pipelines};
use proptest::prelude::*;
use regard_decode::{Controls, Decoding, MaxLength, SearchOptions, Translator};
use regard_look::{
    Action, Heads, InspectOptions, Inspection, Intervention, Interventions, LookError, Reach, Site, Stage,
    Steps, inspect,
};
use regard_model::{AttentionSite, Predictor, Preset, SiteKind};
use regard_tensor::Threads;
use regard_text::Padded;
use regard_text::special_tokens::EOS;

const SENTENCE: &str = "the black cat sleeps";

/// A translator of a preset.
fn translator(preset: Preset, seed: u64) -> Translator {
    let (source, target) = pipelines();
    Translator::new(Arc::from(network(preset, seed) as Box<dyn Predictor>), source, target, Threads::single())
        .unwrap()
}

fn options(interventions: &[&str]) -> InspectOptions {
    let search = SearchOptions { max_length: MaxLength::Fixed(6), ..SearchOptions::default() };
    let interventions = interventions.iter().map(|spec| spec.parse().unwrap()).collect();
    InspectOptions { search, interventions, ..InspectOptions::default() }
}

fn look(preset: Preset, interventions: &[&str]) -> Inspection {
    inspect(&translator(preset, 3), SENTENCE, &options(interventions), &Controls::default()).unwrap()
}

/// The looks at the source under interventions, and in the original.
fn cross(seen: &Inspection) -> Vec<(&Site, &Site)> {
    let effect = seen.intervention.as_ref().unwrap();
    let pairs = effect.sites.iter().zip(&seen.sites);
    pairs.filter(|(site, _)| site.site == SiteKind::Cross).collect()
}

fn close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }
}

#[test]
fn what_changes_nothing_changes_nothing() {
    let same = format!("state:src=1,from=1,text={SENTENCE}");
    for preset in LOOKING {
        for spec in ["temperature:1", &same] {
            let seen = look(preset, &[spec]);
            let effect = seen.intervention.unwrap();
            assert_eq!((effect.text, effect.first_change), (seen.text, None), "{preset:?} {spec}");
            assert_eq!(effect.sites, seen.sites, "{preset:?} {spec}");
            for step in effect.steps {
                assert_eq!((step.tvd, step.jsd), (0.0, 0.0), "{preset:?} {spec}");
                assert_eq!(step.log_prob.to_bits(), step.log_prob_after.to_bits());
            }
        }
    }
}

#[test]
fn a_removed_position_leaves_its_weight_to_the_others() {
    for preset in LOOKING {
        let seen = look(preset, &["remove:src=1,3@step=0"]);
        for (changed, original) in cross(&seen) {
            // Deeper layers see what the first has changed; their own weights are checked by their scores.
            let scores = &changed.scores[0];
            let kept: Vec<f32> = [0, 2, 4].iter().map(|&place| scores[place].exp()).collect();
            let sum: f32 = kept.iter().sum();
            close(&changed.weights[0], &[kept[0] / sum, 0.0, kept[1] / sum, 0.0, kept[2] / sum]);
            if changed.layer == 0 {
                close(&scores[4..], &original.scores[0][4..]);
                let rest = 1.0 - original.weights[0][1] - original.weights[0][3];
                close(&changed.weights[0][2..3], &[original.weights[0][2] / rest]);
            }
        }
        let seen = look(preset, &["remove:src=1,renormalise=false"]);
        let (changed, original) = cross(&seen)[0];
        let [first, _, rest @ ..] = original.weights[0].as_slice() else { panic!() };
        close(&changed.weights[0], &[&[*first, 0.0], rest].concat());
    }
}

#[test]
fn weights_are_what_they_are_set_to() {
    for preset in LOOKING {
        let expected: [(&str, [f32; 5]); 4] = [
            ("force:src=3", [0.0, 0.0, 0.0, 1.0, 0.0]),
            ("row:0.5,0,0.25,0.25,0", [0.5, 0.0, 0.25, 0.25, 0.0]),
            ("uniform", [0.2; 5]),
            ("last", [0.0, 0.0, 0.0, 0.0, 1.0]),
        ];
        for (spec, row) in expected {
            let seen = look(preset, &[spec]);
            for (changed, _) in cross(&seen) {
                changed.weights.iter().for_each(|weights| close(weights, &row));
            }
            assert!(seen.intervention.unwrap().steps.iter().any(|step| step.tvd > 0.0 && step.jsd > 0.0));
        }
        for (changed, _) in cross(&look(preset, &["hard"])) {
            for (weights, scores) in changed.weights.iter().zip(&changed.scores) {
                let best = (0..5).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
                assert_eq!(
                    weights.iter().position(|&weight| weight.to_bits() == 1.0_f32.to_bits()),
                    Some(best)
                );
                assert!((weights.iter().sum::<f32>() - 1.0).abs() < f32::EPSILON);
            }
        }
    }
}

#[test]
fn only_the_named_heads_and_steps_change() {
    let seen = look(Preset::TransformerTiny, &["uniform@head=0.1,step=1-2"]);
    for (changed, original) in cross(&seen) {
        if changed.layer > 0 {
            continue;
        }
        for step in 0..changed.weights.len() {
            let is_meant = changed.head == Some(1) && (step == 1 || step == 2);
            if is_meant {
                close(&changed.weights[step], &[0.2; 5]);
            } else if changed.head == Some(0) && step == 0 {
                assert_eq!(changed.weights[step], original.weights[step]);
            }
        }
    }
    let effect = seen.intervention.unwrap();
    assert_eq!((effect.steps[0].tvd, effect.steps[0].jsd), (0.0, 0.0));
    assert!(effect.steps[1].tvd > 0.0);
}

/// The weights of a step are those that the step before had, in forced decoding and whatever path of a beam goes on.
#[test]
fn the_previous_look_follows_the_path() {
    for preset in [Preset::Bahdanau, Preset::TransformerTiny] {
        let given =
            InspectOptions { target: Some("le chat noir".to_owned()), ..options(&["previous@step=1"]) };
        let seen = inspect(&translator(preset, 3), SENTENCE, &given, &Controls::default()).unwrap();
        let (changed, original) = cross(&seen)[0];
        assert_eq!(changed.weights[0], original.weights[0]);
        close(&changed.weights[1], &original.weights[0]);
        // What the beam found under the intervention has, forced, the probability that the search gave it.
        let translator = translator(preset, 3);
        let sites: Vec<AttentionSite> = seen.sites.iter().map(place).collect();
        let list = ["previous".parse().unwrap()];
        let hook = || Interventions::new(&list, &translator, &sites, 5, &Controls::default()).unwrap();
        let rows = Padded::from_sentences([translator.source().encode(SENTENCE).as_slice()].into_iter());
        let search = SearchOptions { n_best: 5, max_length: MaxLength::Fixed(9), ..SearchOptions::default() };
        let searching = hook();
        let controls = Controls { hook: Some(&searching), ..Controls::default() };
        let found = Decoding { controls, ..translator.decoding() }.search(&rows, &search).unwrap();
        assert!(found[0].iter().any(|hypothesis| hypothesis.length() > 2));
        for hypothesis in &found[0] {
            let mut target = hypothesis.tokens.clone();
            target.extend(hypothesis.finished.then_some(EOS));
            let forcing = hook();
            let controls = Controls { hook: Some(&forcing), ..Controls::default() };
            let decoding = Decoding { controls, ..translator.decoding() };
            let scores = decoding.score(&rows, &Padded::from_rows(&[target]), None).unwrap();
            assert_eq!(scores[0].log_prob.to_bits(), hypothesis.log_prob.to_bits());
        }
    }
}

fn place(site: &Site) -> AttentionSite {
    AttentionSite { kind: site.site, layer: site.layer, head: site.head.unwrap() }
}

#[test]
fn another_sentence_lends_its_state_and_its_look() {
    let other = "the white cat sleeps";
    for preset in LOOKING {
        let seen = look(preset, &[&format!("state:src=1,from=1,text={other}")]);
        assert!(seen.intervention.unwrap().steps[0].tvd > 0.0, "{preset:?}");
        let seen = look(preset, &[&format!("attention-of:text={other}")]);
        let search = SearchOptions { beam_size: 1, ..options(&[]).search };
        let donor = InspectOptions { search, ..InspectOptions::default() };
        let donor = inspect(&translator(preset, 3), other, &donor, &Controls::default()).unwrap();
        let donor = donor.sites.iter().filter(|site| site.site == SiteKind::Cross);
        for ((changed, _), donor) in cross(&seen).into_iter().zip(donor) {
            let steps = changed.weights.len().min(donor.weights.len());
            assert_eq!(changed.weights[..steps], donor.weights[..steps]);
        }
    }
}

#[test]
fn removed_blocks_and_heads_are_gone() {
    let preset = Preset::TransformerTiny;
    // Without any head, an attention adds its bias alone, whatever it looks at.
    let all = look(preset, &["remove-head", "uniform"]).intervention.unwrap();
    let again = look(preset, &["remove-head", "last"]).intervention.unwrap();
    assert_eq!(all.steps, again.steps);
    // Without what looks at the source, the source is nothing.
    let blind = |text: &str| {
        let mut options = options(&["remove-attention"]);
        options.target = Some("le chat".to_owned());
        inspect(&translator(preset, 3), text, &options, &Controls::default())
            .unwrap()
            .intervention
            .unwrap()
            .steps
    };
    let after = |text: &str| blind(text).iter().map(|step| step.log_prob_after.to_bits()).collect::<Vec<_>>();
    assert_eq!(after("the cat"), after("dog runs red"));
    assert!(blind("the cat")[0].tvd > 0.0);
    for spec in ["remove-layer@layer=1", "remove-feed-forward@layer=0", "remove-residual@site=encoder_self"] {
        assert!(look(preset, &[spec]).intervention.unwrap().steps[0].tvd > 0.0, "{spec}");
    }
    // A layer is its parts.
    let parts = [
        "remove-attention@layer=1",
        "remove-attention@layer=1,site=decoder_self",
        "remove-feed-forward@layer=1",
    ];
    let whole = look(preset, &["remove-layer@layer=1"]).intervention.unwrap();
    assert_eq!(whole.steps, look(preset, &parts).intervention.unwrap().steps);
}

#[test]
fn what_is_not_there_is_named() {
    let bad = |preset, spec: &str| match inspect(
        &translator(preset, 3),
        SENTENCE,
        &options(&[spec]),
        &Controls::default(),
    ) {
        Err(LookError::Impossible { problem, .. }) => problem,
        other => panic!("{spec}: {other:?}"),
    };
    let cases = [
        (Preset::Bahdanau, "remove:src=5", "no source position 5: the last is 4"),
        (Preset::Bahdanau, "remove:src=0-4", "nothing would be left"),
        (Preset::Bahdanau, "uniform@step=77", "no step 77"),
        (Preset::TransformerTiny, "remove:src=50@site=decoder_self", "no target position 50"),
        (Preset::TransformerTiny, "uniform@step=5,site=encoder_self", "no step 5: the last is 4"),
        (Preset::TransformerTiny, "remove-layer@head=0.1", "say layer=L"),
        (Preset::Bahdanau, "state:src=1,from=1,text=the cat@step=0", "for all steps"),
        (Preset::Bahdanau, "row:0.5,0.5", "2 weights for 5 positions"),
        (Preset::Bahdanau, "uniform@layer=1", "no layer 1"),
        (Preset::Bahdanau, "uniform@site=encoder_self", "encoder of this model has no attention"),
        (Preset::Bahdanau, "remove-layer@layer=0", "only a Transformer"),
        (Preset::TransformerTiny, "remove-head@head=0.2", "no head 0.2: the last is 1.1"),
        (Preset::TransformerTiny, "state:src=1,from=9,text=the cat", "positions 0 to 2"),
        (Preset::TransformerTiny, "attention-of:text=the cat", "3 positions and the sentence 5"),
        (Preset::Sutskever, "uniform", "one vector and nothing to look at"),
    ];
    for (preset, spec, expected) in cases {
        let problem = bad(preset, spec);
        assert!(problem.contains(expected), "{spec}: {problem}");
    }
}

/// Two that leave nothing together are refused as one would be; without new weights, nothing may be left.
#[test]
fn together_they_leave_something() {
    let translator = translator(Preset::Bahdanau, 3);
    let refused =
        inspect(&translator, SENTENCE, &options(&["remove:src=0-2", "remove:src=3,4"]), &Controls::default());
    assert!(
        matches!(refused, Err(LookError::Impossible { problem, .. }) if problem.contains("nothing would be left"))
    );
    let apart = ["remove:src=0-2@step=0", "remove:src=3,4@step=1"];
    let target = InspectOptions { target: Some("le chat noir".to_owned()), ..options(&apart) };
    assert!(inspect(&translator, SENTENCE, &target, &Controls::default()).is_ok());
    let seen = look(Preset::Bahdanau, &["remove:src=0-4,renormalise=false"]);
    assert!(cross(&seen)[0].0.weights.iter().flatten().all(|weight| weight.abs() < 1e-9));
}

#[test]
fn a_wrong_word_is_pointed_at() {
    let cases = [
        ("", 0, "\"\" is no action"),
        ("forget:src=1", 0, "\"forget\" is no action"),
        ("remove", 6, "src=POSITION is missing"),
        ("remove:", 7, "nothing after the colon"),
        ("remove:src=x", 11, "\"x\" is not a number"),
        ("remove:src=5-2", 11, "\"5-2\" is not a range"),
        ("remove:src=1,step=2", 13, "\"step\" does not belong here"),
        ("remove:src=1,renormalise=no", 25, "renormalise wants true or false"),
        ("remove:src=1@step=x", 18, "\"x\" is not a number"),
        ("remove:src=1@", 13, "nothing after the @"),
        ("uniform@head=2", 13, "\"2\" is not a head"),
        ("uniform@layer=1,head=1.2", 21, "layers or heads, not both"),
        ("uniform@site=self", 13, "site wants cross"),
        ("temperature:0", 12, "\"0\" is not a number above 0"),
        ("temperature:1e-37", 12, "from 0.001"),
        ("row:1e38,0", 4, "not a weight from 0 to 1000"),
        ("row:0.5,-1", 4, "\"-1\" is not a weight"),
        ("permute:seed=-1", 13, "seed wants a number"),
        ("state:src=1,from=0,text= ", 24, "the sentence is blank"),
        ("uniform:step=1", 8, "\"step\" does not belong here"),
        ("force:src=1,,2", 12, "nothing between commas"),
        ("état@step=1", 0, "is no action"),
    ];
    for (text, position, problem) in cases {
        let error = text.parse::<Intervention>().unwrap_err();
        assert_eq!(error.position, position, "{text}: {error}");
        assert!(error.problem.contains(problem), "{text}: {error}");
        error.example.parse::<Intervention>().unwrap();
    }
}

fn action() -> impl Strategy<Value = Action> {
    let numbers = prop::collection::vec(0..50_usize, 1..5);
    let text = "[a-zA-Zé@,=:. 日]{0,12}[a-z]";
    prop_oneof![
        (0.01_f32..9.0).prop_map(Action::Temperature),
        (numbers, any::<bool>())
            .prop_map(|(positions, renormalise)| Action::Remove { positions, renormalise }),
        (0..99_usize).prop_map(|position| Action::Force { position }),
        prop::collection::vec(0.0_f32..2.0, 1..6).prop_map(Action::Row),
        Just(Action::Uniform),
        (any::<u64>(), prop_oneof![Just(Stage::Scores), Just(Stage::Weights)])
            .prop_map(|(seed, of)| Action::Permute { seed, of }),
        Just(Action::Hard),
        Just(Action::Previous),
        Just(Action::Last),
        text.prop_map(|text| Action::AttentionOf { text }),
        (0..9_usize, 0..9_usize, text).prop_map(|(position, from, text)| Action::State {
            position,
            from,
            text
        }),
        Just(Action::RemoveHead),
        Just(Action::RemoveLayer),
        Just(Action::RemoveAttention),
        Just(Action::RemoveFeedForward),
        Just(Action::RemoveResidual),
    ]
}

fn reach() -> impl Strategy<Value = Reach> {
    let site = prop_oneof![Just(SiteKind::Cross), Just(SiteKind::EncoderSelf), Just(SiteKind::DecoderSelf)];
    let heads = prop_oneof![
        Just(Heads::All),
        prop::collection::vec(0..9_usize, 1..4).prop_map(Heads::Layers),
        prop::collection::vec((0..9_usize, 0..9_usize), 1..4).prop_map(Heads::These),
    ];
    let steps =
        prop_oneof![Just(Steps::All), prop::collection::vec(0..99_usize, 1..4).prop_map(Steps::These)];
    (site, heads, steps).prop_map(|(site, heads, steps)| Reach { site, heads, steps })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(action in action(), reach in reach()) {
        let intervention = Intervention { action, reach };
        let text = intervention.to_string();
        prop_assert_eq!(text.parse::<Intervention>().unwrap(), intervention.clone(), "{}", text);
        let json = serde_json::to_string(&intervention).unwrap();
        prop_assert_eq!(serde_json::from_str::<Intervention>(&json).unwrap(), intervention);
    }

    #[test]
    fn any_text_is_an_intervention_or_an_error(text in "\\PC{0,40}|(remove|row|state|uniform)[:@,=0-9a-zé.-]{0,30}") {
        if let Err(error) = text.parse::<Intervention>() {
            prop_assert!(error.position <= text.chars().count());
        }
    }
}
