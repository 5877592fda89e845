import { unbiased } from '../../../agent_rl/core/services/generator.ts';
import type { Engine } from '../../../agent_rl/engine/engine.ts';
import {
  DecoderPrograms,
  type Packed,
} from '../../../agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '../../../agent_rl/generation/local-generator.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import type { Weights } from '../../../model/config/parameters.ts';
import { secondsOf } from '../statistics.ts';

/** What is drawn one turn after another. */
export interface Turns {
  /** Half of them are drawn before the clock starts. */
  prompts: readonly (readonly number[])[];
  maxTokens: number;
  stopToken: number;
  /** Whether programs hold the weights. */
  packs?: Packed | undefined;
}

/** Tokens per second of turns of one row, their prompts included. */
export async function measureTurns(
  engine: Engine,
  { config, parameters }: { config: ModelConfig; parameters: Weights },
  { prompts, maxTokens, stopToken, packs }: Turns,
): Promise<number> {
  const longest = Math.max(...prompts.map(({ length }) => length));
  const maxContextTokens = longest + maxTokens + 1;
  const programs = new DecoderPrograms(engine, config, maxContextTokens, { packs });
  const generator = new LocalGenerator(programs, { rows: 1, maxContextTokens });
  await generator.setWeights(parameters, 0);
  const draw = async (some: Turns['prompts']): Promise<void> => {
    for (const [sample, tokens] of some.entries()) {
      await generator.generate({
        episode: 'turn',
        tokens,
        maxTokens,
        stopTokens: [stopToken],
        sampling: unbiased,
        key: { seed: 1, taskId: 'bench', sample, turn: 0 },
      });
      generator.release('turn');
    }
  };
  const half = Math.ceil(prompts.length / 2);
  await draw(prompts.slice(0, half));
  const before = generator.totals.sampledTokens;
  const seconds = await secondsOf(() => draw(prompts.slice(half)));
  const rate = (generator.totals.sampledTokens - before) / seconds;
  await programs.dispose();
  return rate;
}
