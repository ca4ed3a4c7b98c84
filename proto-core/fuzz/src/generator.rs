//! Inputs from a seed: real ones changed a little, now and then ones from nothing. The same number gives the same input.

/// What mutations like to insert: where rules about text and lengths turn.
const PIECES: [&[u8]; 32] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00",
    b"null",
    b"-0",
    b"1e9",
    b"true",
    b"\"type\":",
    b"\"seq\":18446744073709551615",
    b"\xef\xbb\xbf",
    b"\xc0\x80",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\x00\x00\x00\x04",
    b"\x01\x03\x02",
    b"\x02\x03\x04",
    b"\n",
    b"\xc0",
    b"\xc4\x20",
    b"\xd9\x20",
    b"\xda\x00\x05",
    b"\xde\x00\x11",
    b"\xdc\xff\xff",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"AA==",
];

/// Bytes of the longest input that is made from a shorter one.
const LEN_MAX: usize = 64 * 1024;

/// Bytes of an input that is made from nothing.
const RANDOM_LEN_MAX: usize = 96;

/// Changes of one input.
const CHANGES_MAX: usize = 6;

/// Makes inputs.
#[derive(Debug, Clone)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// The generator of one seed; every seed has another sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// One input.
    pub fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if seeds.is_empty() || self.below(16) == 0 {
            let len = self.below(RANDOM_LEN_MAX);
            return (0..len).map(|_| self.byte()).collect();
        }
        let mut input = self.pick(seeds).clone();
        for _ in 0..self.below(CHANGES_MAX) {
            self.change(&mut input, seeds);
        }
        input.truncate(LEN_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = at + self.below(input.len() - at + 1).min(self.below(64));
        match self.below(8) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => drop(input.splice(at..at, input[at..end].to_vec())),
            3 => drop(input.splice(at..at, self.pick(&PIECES).iter().copied())),
            4 => drop(input.splice(at..end, self.pick(&PIECES).iter().copied())),
            5 => {
                let other = self.pick(seeds);
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.byte();
                }
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len());
        &from[at]
    }

    /// A number under `bound`; 0 where that is 0.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    /// Splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_sequence() {
        let seeds = [b"{\"a\":1}".to_vec(), b"[]".to_vec()];
        let inputs = |seed| -> Vec<Vec<u8>> {
            let mut generator = Generator::new(seed);
            (0..100).map(|_| generator.input(&seeds)).collect()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
    }
}
