"""numpy.random.default_rng(seed).choice(n, size=(…, n)), written out: SeedSequence, PCG64 (O'Neill 2014) and Lemire's bounded
draws (2019)."""

import struct

MASK32, MASK64, MASK128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def hasher(constant, multiplier):
    def hash_word(word):
        nonlocal constant
        word ^= constant
        constant = constant * multiplier & MASK32
        word = word * constant & MASK32
        return word ^ word >> 16

    return hash_word


def seed_words(seed, count):
    """SeedSequence(seed).generate_state(count) of a seed below 2³²."""
    hash_in = hasher(0x43B0D7E5, 0x931E8875)
    pool = [hash_in(word) for word in (seed, 0, 0, 0)]
    for source in range(4):
        for target in range(4):
            if source != target:
                word = (0xCA01F9DD * pool[target] - 0x4973F715 * hash_in(pool[source])) & MASK32
                pool[target] = word ^ word >> 16
    hash_out = hasher(0x8B51F9DD, 0x58F38DED)
    return [hash_out(pool[place % 4]) for place in range(count)]


def words32(seed):
    """PCG64's stream in halves, the lower first."""
    words = seed_words(seed, 8)
    high, low, inc_high, inc_low = (words[i] | words[i + 1] << 32 for i in range(0, 8, 2))
    increment = ((inc_high << 64 | inc_low) << 1 | 1) & MASK128
    step = lambda state: (state * 0x2360ED051FC65DA44385DF649FCCF645 + increment) & MASK128
    state = step(step(0) + (high << 64 | low) & MASK128)
    while True:
        state = step(state)
        mixed, turn = (state >> 64 ^ state) & MASK64, state >> 122
        word = (mixed >> turn | mixed << 64 - turn) & MASK64
        yield word & MASK32
        yield word >> 32


def choice(seed, n, count):
    """`count` draws from 0 to n − 1, in samples of n."""
    stream, sample = words32(seed), []
    for _ in range(count):
        product = next(stream) * n
        while product & MASK32 < (1 << 32) % n:
            product = next(stream) * n
        sample.append(product >> 32)
        if len(sample) == n:
            yield sample
            sample = []
