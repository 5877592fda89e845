import { KeyedRng } from '../core/keyed-rng.ts';
import type { RandomKey } from '../core/services/generator.ts';

/** The seed of a server's own random number generator: the same for the same key on every request. */
export function requestSeed({ seed, taskId, sample, turn, agent, drawn = 0 }: RandomKey): number {
  const path = [...(agent === undefined ? [] : ['agent', agent]), 'drawn', drawn];
  return new KeyedRng(seed, 'server', taskId, sample, turn, ...path).integer(2 ** 31);
}
