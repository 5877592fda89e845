import path from 'node:path';

import type { PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import type { Conversation } from '../../../dataset/demonstrations/conversations.ts';
import type { SeedOptions } from '../../bench/controls/seed.ts';

/** What supervised training shows. @param warmUp its run file */
export type Teach = (
  seed: SeedOptions,
  warmUp: PreparedRun,
  count: number,
) => Promise<readonly Conversation[]>;

/** What the recipe is run with. */
export interface RecipeOptions {
  seeds: readonly number[];
  /** Folder of all that it writes. */
  out: string;
  /** Installs the model's package. */
  python: string;
  /** The model's file, instead of the package's. */
  gguf?: string | undefined;
  /** Shows the model its tools, which its own template does not. */
  chatTemplate?: string | undefined;
  /** Folder with GSM8K's test.jsonl. */
  gsm8k?: string | undefined;
  /** Run file of reinforcement learning, by which all is evaluated too, and `a.b=c` over it. */
  config: string;
  sets: readonly string[];
  /** Run file of supervised training. */
  sftConfig: string;
  teach: Teach;
  signal: AbortSignal;
  print: (text: string) => void;
}

/** Where a seed's parts are kept, and the model that they begin with. */
export const seedOptions = (
  { out, config, sftConfig, sets, signal, print }: RecipeOptions,
  { seed, folder, model }: { seed: number; folder: string; model: string },
): SeedOptions => ({
  seed,
  config,
  sftConfig,
  sets,
  starter: model,
  attempts: 1,
  price: 0,
  runs: path.join(out, folder, 'runs'),
  folder: path.join(out, folder),
  signal,
  print,
});

/** A seed's own folder, and the model that its supervised training leaves there. */
export function seedOf(options: RecipeOptions, seed: number): SeedOptions {
  const folder = `seed-${seed}`;
  return seedOptions(options, { seed, folder, model: path.join(options.out, folder, 'taught') });
}
