import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Generation, GenerationRequest } from '#agent_rl/core/services/generator.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { tinyModelConfig } from './tiny-model.ts';

/** Weights of a model so large that its distributions are peaked: a wrong context would show. */
export const peakedOf = (config: ModelConfig, { seed = 7, times = 8 } = {}) =>
  new Map(
    [...initialParameters(config, new KeyedRng(seed))].map(([name, values]) => [
      name,
      values[0] === 1 ? values : values.map((value) => value * times),
    ]),
  );
export const peakedParameters = peakedOf(tinyModelConfig);

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

/** An episode of four turns. @param results what tools answer in the first three; `asked` what is asked for in each turn */
export async function playTurns(
  generator: LocalGenerator,
  prompt: readonly number[],
  results: readonly (readonly number[])[],
  asked: (turn: number) => Omit<GenerationRequest, 'tokens'>,
): Promise<Generation[]> {
  const context = [...prompt];
  const turns: Generation[] = [];
  for (let turn = 0; turn <= results.length; turn++) {
    const made = await generator.generate({ ...asked(turn), tokens: [...context] });
    turns.push(made);
    context.push(...made.tokens, ...(results[turn] ?? []));
  }
  generator.release(asked(0).episode);
  return turns;
}
