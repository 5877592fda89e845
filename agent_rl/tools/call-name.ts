import type { KeyedRng } from '../core/keyed-rng.ts';

/** A name for a call that is the same in every repetition of its run: 48 bits of its own randomness. */
export function callName(random: KeyedRng): string {
  const own = random.child('call name');
  return [0, 1].map((place) => (own.at(place) * 0x1000000).toString(16).padStart(6, '0')).join('');
}
