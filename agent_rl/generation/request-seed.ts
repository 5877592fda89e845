import { KeyedRng } from '../core/keyed-rng.ts';
import type { RandomKey } from '../core/services/generator.ts';

/** What a server's own generator of random numbers starts from: the same for the same key, however often it is asked. */
export function requestSeed({ seed, taskId, sample, turn, agent, drawn = 0 }: RandomKey): number {
  const path = [...(agent === undefined ? [] : ['agent', agent]), 'drawn', drawn];
  return new KeyedRng(seed, 'server', taskId, sample, turn, ...path).integer(2 ** 31);
}
