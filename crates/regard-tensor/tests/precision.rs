//! Losses and gradients in bf16 beside those in f32.

#![allow(clippy::float_cmp, reason = "equal bits are the point")]

use regard_tensor::ops::{self, Function, Targets};
use regard_tensor::{Element, Precision, Result, Tape, Tensor, Threads, Var, random};

/// Large enough for several tasks.
const TOKENS: usize = 301;
const WIDTH: usize = 61;
const VOCABULARY: usize = 1009;

fn values<T: Element>(rows: usize, columns: usize, key: u64) -> Tensor<T> {
    Tensor::build([rows, columns], |values| {
        for (index, value) in values.iter_mut().enumerate() {
            *value = T::from_f64(random::unit(key, index as u64) * 2.0 - 1.0);
        }
    })
}

/// Loss and gradients of two maps and a cross-entropy.
fn run<T: Element>(precision: Precision, threads: usize) -> Result<Vec<Tensor<T>>> {
    let tape = Tape::new(&Threads::new(threads)).with_precision(precision);
    let x = tape.leaf(values(TOKENS, WIDTH, 1));
    let (inner, output) = (tape.leaf(values(WIDTH, WIDTH, 2)), tape.leaf(values(VOCABULARY, WIDTH, 3)));
    let hidden = ops::tanh(&tape, &ops::linear(&tape, &x, &inner, None)?)?;
    let ids: Vec<u32> = (0..TOKENS as u32).map(|token| token * 7 % VOCABULARY as u32).collect();
    let targets =
        Targets { ids: &ids, counts: &[true; TOKENS], label_smoothing: 0.1, factor: 1.0 / TOKENS as f64 };
    let loss = ops::linear_cross_entropy(&tape, &hidden, &output, None, targets)?.loss;
    let mut results = vec![loss.value().clone()];
    let gradients = tape.backward(&loss)?;
    results.extend([&x, &inner, &output].map(|var| gradients.get(var).expect("it has one")));
    Ok(results)
}

/// ‖a − b‖ / ‖b‖.
fn distance<T: Element, U: Element>(a: &Tensor<T>, b: &Tensor<U>) -> f64 {
    let pairs = || a.values().iter().zip(b.values()).map(|(a, b)| (a.to_f64(), b.to_f64()));
    (pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>() / pairs().map(|(_, b)| b * b).sum::<f64>()).sqrt()
}

#[test]
fn bf16_is_near_f32_and_its_plain_twin() {
    let exact = run::<f32>(Precision::F32, 1).unwrap();
    let (rounded, plain) = (run::<f32>(Precision::Bf16, 1).unwrap(), run::<f64>(Precision::Bf16, 1).unwrap());
    for (index, ((rounded, plain), exact)) in rounded.iter().zip(&plain).zip(&exact).enumerate() {
        let off = distance(rounded, exact);
        assert!(off < 0.01, "result {index} is {off} from f32");
        // A sum in another order may round to the next bf16.
        let off = distance(rounded, plain);
        assert!(off < 5e-4, "result {index} is {off} from the plain twin");
    }
    assert!(distance(&rounded[3], &exact[3]) > 1e-4, "something is rounded");
}

#[test]
fn bf16_has_the_same_bits_for_any_number_of_threads() {
    let bits = |threads| {
        let results = run::<f32>(Precision::Bf16, threads).unwrap();
        results.iter().flat_map(|x| x.values().iter().map(|x| x.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(bits(1), bits(2));
    assert_eq!(bits(1), bits(3));
}

#[test]
fn a_weight_that_is_only_packed_multiplies_as_before_and_can_still_be_read() {
    let threads = Threads::new(2);
    let (x, weight) = (values::<f32>(5, WIDTH, 4), values::<f32>(VOCABULARY, WIDTH, 5));
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        let product = |weight: &Tensor| {
            let tape = Tape::inference(&threads).with_precision(precision);
            let [x, weight] = [&x, weight].map(|value| Var::constant(value.clone()));
            ops::linear(&tape, &x, &weight, None).unwrap().value().values().to_vec()
        };
        let packed = weight.deep_copy().into_packed(&threads, precision);
        assert_eq!(product(&packed), product(&weight), "{precision:?}");
        assert_eq!(packed.shape(), weight.shape());
        let rows = packed.select_rows(&[VOCABULARY - 1, 0]).unwrap();
        let off = distance(&packed, &weight);
        assert_eq!([rows.row(0), rows.row(1)], [packed.row(VOCABULARY - 1), packed.row(0)]);
        match precision {
            Precision::F32 => assert_eq!(packed.values(), weight.values()),
            _ => assert!(off > 1e-4 && off < 0.01, "{precision:?}: {off}"),
        }
        let mut changed = packed;
        changed.values_mut()[0] = 7.0;
        assert!(changed.item() == 7.0 && product(&changed) != product(&weight));
    }
}

#[test]
fn a_function_after_a_product_is_that_of_the_product() {
    let threads = Threads::new(2);
    let [x, weight, bias] = [(331, WIDTH, 6), (VOCABULARY, WIDTH, 7), (1, VOCABULARY, 8)]
        .map(|(rows, width, seed)| values::<f32>(rows, width, seed));
    let bias = bias.reshape([VOCABULARY]).unwrap();
    for function in [Function::Tanh, Function::Sigmoid, Function::Relu, Function::Gelu, Function::Swish] {
        let two_steps = |tape: &Tape| {
            let [x, weight, bias] = [&x, &weight, &bias].map(|value| tape.leaf(value.clone()));
            let together = ops::linear_then(tape, &x, &weight, Some(&bias), function).unwrap();
            let product = ops::linear(tape, &x, &weight, Some(&bias)).unwrap();
            assert_eq!(together.value().values(), function.apply(tape, &product).unwrap().value().values());
            together.value().values().to_vec()
        };
        assert_eq!(two_steps(&Tape::inference(&threads)), two_steps(&Tape::new(&threads)), "{function:?}");
    }
}
