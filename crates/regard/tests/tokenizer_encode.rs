//! `regard tokenizer encode` over many blocks of lines.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, corpus, regard_reading};
use regard_text::Bpe;

#[test]
fn lines_keep_their_order_on_any_threads_and_come_out_before_an_error() {
    let place = Place::new();
    let sides: Vec<String> = (0..5).flat_map(|seed| corpus(seed, 4000, (1, 9))).collect();
    // A line between them that is only there once.
    let text = sides.join("between\n");
    let bpe = Bpe::learn(text.lines().take(2000), 60, 2);
    let codes = place.at("codes");
    bpe.write(&codes).unwrap();
    let expected: String = text.lines().map(|line| bpe.apply(line) + "\n").collect();
    assert!(expected.lines().count() > 40_000);
    for threads in ["1", "2", "3"] {
        let encode = |input: &[u8]| {
            regard_reading(&["tokenizer", "encode", "--codes", &codes, "--threads", threads], input)
        };
        assert!(encode(text.as_bytes()).ok() == expected, "{threads} threads");
        let ran = encode(&[text.as_bytes(), b"x\xff\nthe dog\n"].concat());
        assert!(ran.out == expected.as_bytes(), "{threads} threads");
        ran.fails_with(1, &[&format!(":{}: not valid UTF-8", expected.lines().count() + 1)]);
        assert_eq!(encode(b"the dog\nx\xff\n").out, (bpe.apply("the dog") + "\n").as_bytes());
    }
}
