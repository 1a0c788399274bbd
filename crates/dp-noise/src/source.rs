//! The generator of a release: `ChaCha20`, keyed by the operating system, erasing what it used.

use std::convert::Infallible;
use std::fmt;

use rand::rngs::{ChaCha20Rng, SysError, SysRng};
use rand::{Rng, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

const KEY_BYTES: usize = 32;
/// With a key in front, one batch is a whole number of the cipher's four-block steps.
const BATCH_WORDS: usize = (4096 - KEY_BYTES) / 8;
/// Fresh entropy is mixed in after this many batches, about 8,000 words.
const BATCHES_PER_RESEED: u32 = 16;

/// A cryptographic generator for releases.
///
/// Words come in batches from `ChaCha20`. Every batch also yields the key of the next, and its own
/// key is wiped before the first word is used; every word is wiped when it is handed out, and the
/// rest on drop. So memory that leaks later tells nothing about noise drawn earlier. After 16
/// batches the next key is mixed with fresh entropy of the operating system.
///
/// # What the type rules out
/// There is no seed, no clone, no serialisation and no way to set its position: equal noise on two
/// runs, which would let a reader subtract them, cannot be asked for. For a reproducible run see
/// [`insecure_reproducible`].
///
/// A process that is duplicated by `fork` would duplicate the generator with it. Safe Rust cannot
/// fork, and this workspace forbids unsafe code; a program that embeds it and forks must make its
/// generators after the fork. They cost a microsecond: make one for every release.
pub struct ReleaseRng {
    key: [u8; KEY_BYTES],
    batch: Box<[u64; BATCH_WORDS]>,
    next: usize,
    until_reseed: u32,
}

/// A generator for a release, keyed by the operating system.
///
/// # Errors
/// When the operating system refuses entropy.
pub fn chacha_from_os() -> Result<ReleaseRng, SysError> {
    let mut key = [0; KEY_BYTES];
    SysRng.try_fill_bytes(&mut key)?;
    Ok(ReleaseRng {
        key,
        batch: Box::new([0; BATCH_WORDS]),
        next: BATCH_WORDS,
        until_reseed: BATCHES_PER_RESEED,
    })
}

/// A generator whose every word follows from a number: for tests, benchmarks and evaluations.
///
/// Whoever knows or guesses the seed can subtract the noise. Never release anything drawn from it.
pub fn insecure_reproducible(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

impl ReleaseRng {
    #[cold]
    fn refill(&mut self) {
        self.until_reseed -= 1;
        if self.until_reseed == 0 {
            self.mix_in_entropy();
        }
        // The generator wipes its own state, and the key with it, when it is dropped here.
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.fill_bytes(&mut self.key);
        for word in self.batch.iter_mut() {
            *word = generator.next_u64();
        }
        self.next = 0;
    }

    /// A system that gave entropy once and now refuses it does not stop a release: the stream goes
    /// on from its key, which stays unknown to everyone else.
    fn mix_in_entropy(&mut self) {
        self.until_reseed = BATCHES_PER_RESEED;
        let mut fresh = [0; KEY_BYTES];
        if SysRng.try_fill_bytes(&mut fresh).is_ok() {
            for (byte, new) in self.key.iter_mut().zip(fresh) {
                *byte ^= new;
            }
        }
        fresh.zeroize();
    }
}

impl TryRng for ReleaseRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| u32::try_from(word >> 32).expect("half a word"))
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        if self.next == BATCH_WORDS {
            self.refill();
        }
        let word = std::mem::take(&mut self.batch[self.next]);
        self.next += 1;
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for ReleaseRng {}

impl ReleaseRng {
    fn wipe(&mut self) {
        self.key.zeroize();
        self.batch.zeroize();
    }
}

impl Drop for ReleaseRng {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for ReleaseRng {}

impl fmt::Debug for ReleaseRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReleaseRng { .. }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wiped_as_they_are_handed_out_and_batches_differ() {
        let mut rng = chacha_from_os().expect("entropy");
        let mut seen = std::collections::BTreeSet::new();
        let mut keys = std::collections::BTreeSet::new();
        for draw in 0..3 * BATCH_WORDS {
            keys.insert(rng.key);
            assert!(seen.insert(rng.next_u64()), "a word came twice at draw {draw}");
            assert!(rng.batch[..rng.next].iter().all(|&word| word == 0));
        }
        assert_eq!(keys.len(), 4, "every batch moves on to a new key");
    }

    #[test]
    fn two_generators_share_nothing_and_print_nothing() {
        let [mut a, mut b] = [0; 2].map(|_| chacha_from_os().expect("entropy"));
        // All of both keys is from the system: eight bytes of it are alike by chance in 1 of 2^60 runs.
        for (a, b) in a.key.chunks(8).zip(b.key.chunks(8)) {
            assert!(a != b && a != [0; 8] && b != [0; 8]);
        }
        assert_ne!([a.next_u64(), a.next_u64()], [b.next_u64(), b.next_u64()]);
        assert_eq!(format!("{a:?}"), "ReleaseRng { .. }");
    }

    /// After a reseed the stream is no longer the one that the old key determines.
    #[test]
    fn entropy_is_mixed_in_on_time() {
        let mut rng = chacha_from_os().expect("entropy");
        // The control never reseeds.
        let mut twin = twin(&rng);
        twin.until_reseed = u32::MAX;
        let reseed = (BATCHES_PER_RESEED as usize - 1) * BATCH_WORDS;
        assert!((0..reseed).all(|_| rng.next_u64() == twin.next_u64()));
        assert!((0..4).all(|_| rng.next_u64() != twin.next_u64()));
    }

    /// Bits of a key are turned, not only set; a key of ones stays one by chance in 1 of `2^256` runs.
    #[test]
    fn entropy_turns_bits_and_nothing_is_left_in_the_end() {
        let mut rng = chacha_from_os().expect("entropy");
        for bits in [0, u8::MAX] {
            rng.key = [bits; KEY_BYTES];
            rng.mix_in_entropy();
            assert_ne!(rng.key, [bits; KEY_BYTES]);
        }
        rng.next_u64();
        rng.wipe();
        assert!(rng.key == [0; KEY_BYTES] && *rng.batch == [0; BATCH_WORDS]);
    }

    /// A generator that goes on as this one does, until it mixes in entropy.
    fn twin(rng: &ReleaseRng) -> ReleaseRng {
        let (batch, next, until_reseed) = (rng.batch.clone(), rng.next, rng.until_reseed);
        ReleaseRng { key: rng.key, batch, next, until_reseed }
    }

    /// The next key and the words of a batch are parts of one stream that follow each other, so that no word that is handed out is a part of a key,
    /// neither of a later one nor of an earlier.
    #[test]
    fn a_key_makes_the_next_key_and_then_the_words() {
        let mut rng = chacha_from_os().expect("entropy");
        for _ in 0..3 {
            let mut stream = ChaCha20Rng::from_seed(rng.key);
            let mut next_key = [0; KEY_BYTES];
            stream.fill_bytes(&mut next_key);
            rng.refill();
            assert_eq!(rng.key, next_key);
            assert!(rng.batch.iter().all(|&word| word == stream.next_u64()));
        }
    }

    /// Eight of each word, and what is left of the last.
    #[test]
    fn bytes_and_half_words_are_those_of_words() {
        let mut rng = chacha_from_os().expect("entropy");
        let mut twin = twin(&rng);
        let mut bytes = [0_u8; 37];
        rng.fill_bytes(&mut bytes);
        let words = [(); 5].map(|()| twin.next_u64().to_le_bytes());
        assert_eq!(bytes, words.as_flattened()[..37]);
        assert_eq!(u64::from(rng.next_u32()), twin.next_u64() >> 32);
        assert_eq!(rng.next_u64(), twin.next_u64());
    }

    #[test]
    fn the_insecure_generator_repeats() {
        assert_eq!(insecure_reproducible(4).next_u64(), insecure_reproducible(4).next_u64());
        assert_ne!(insecure_reproducible(4).next_u64(), insecure_reproducible(5).next_u64());
    }
}
