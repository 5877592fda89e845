import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { tinyModelConfig } from './tiny-model.ts';

/** Weights of the tiny model so large that its distributions are peaked: a wrong context would show. */
export const peakedParameters = new Map(
  [...initialParameters(tinyModelConfig, new KeyedRng(7))].map(([name, values]) => [
    name,
    values[0] === 1 ? values : values.map((value) => value * 8),
  ]),
);

/** A generator with these weights as version 3. */
export async function openTinyGenerator(
  engine: Engine,
  {
    rows,
    maxContextTokens,
    programs = new DecoderPrograms(engine, tinyModelConfig, maxContextTokens),
  }: { rows: number; maxContextTokens: number; programs?: DecoderPrograms },
): Promise<LocalGenerator> {
  const generator = new LocalGenerator(programs, { rows, maxContextTokens });
  await generator.setWeights(peakedParameters, 3);
  return generator;
}
