import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { prepareRun, type PreparedRun } from '../../../agent_rl/compose/prepare-run.ts';
import type { Config } from '../../../agent_rl/config/index.ts';
import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { writeFileAtomic } from '../../../agent_rl/telemetry/index.ts';
import { sliceNames } from '../../../dataset/workspace_tasks/generator/rows.ts';

/** What the controls of one seed are made with. */
export interface SeedOptions {
  seed: number;
  config: string;
  sftConfig: string;
  /** `a.b=c`, over the config. */
  sets: readonly string[];
  /** Folder of the model that this seed starts from, instead of the config's. */
  starter?: string | undefined;
  /** At each task before the run, for pass@k. */
  attempts: number;
  /** Taken off for each call and each error by the part that trains with prices. */
  price: number;
  /** Folder of runs to read instead of repeating them. */
  runs: string;
  /** Where the parts of this seed are kept. */
  folder: string;
  signal: AbortSignal;
  print: (text: string) => void;
}

type Settings = Readonly<Record<string, unknown>>;

/** A run file with this seed and more settings over it. */
export const prepareSeed = (
  file: string,
  { seed, sets }: { seed: number; sets?: readonly string[] | undefined },
  settings: Settings,
): Promise<PreparedRun> =>
  prepareRun({
    file,
    overrides: sets,
    flags: Object.entries({ 'run.seed': seed, ...settings }).map(([key, value]) => ({
      source: 'bench:controls',
      path: key,
      value,
    })),
  });

/** The run of a seed with more settings over it. */
export const prepareOwn = (options: SeedOptions, settings: Settings = {}): Promise<PreparedRun> =>
  prepareSeed(options.config, options, {
    ...(options.starter !== undefined && { 'model.path': options.starter }),
    ...settings,
  });

/** At least so much room for the deepest questions: a run may have less, for the sake of its speed. */
const roomOfSlices = ({ policy, rollout }: Config) => ({
  'policy.maxContextTokens': Math.max(1536, policy.maxContextTokens),
  'rollout.maxEpisodeTokens': Math.max(1536, rollout.maxEpisodeTokens),
  'rollout.maxTurns': Math.max(24, rollout.maxTurns),
});

/** The same with all slices of the evaluation, where its tasks are made and the run itself asks some of them, and room for them. */
export async function prepareEvaluated(
  options: SeedOptions,
  settings: Settings = {},
): Promise<PreparedRun> {
  const { config } = (await prepareOwn(options)).loaded;
  const { datasets } = config;
  const places = datasets.flatMap(({ generator }, place) =>
    generator?.type === 'workspace' ? [place] : [],
  );
  const slices = sliceNames.filter((name) => name !== undefined);
  return prepareOwn(options, {
    ...Object.fromEntries(places.map((place) => [`datasets.${place}.generator.slices`, slices])),
    ...(places.length > 0 && roomOfSlices(config)),
    ...settings,
  });
}

/**
 * Parts are kept by their names, so that a folder is for one seed of one run and its warm-up.
 *
 * @throws AgentRlError `CONFIG_INVALID` where the folder holds parts of another
 */
export async function keepAsked(options: SeedOptions): Promise<void> {
  const { seed, folder, sftConfig } = options;
  const warmUp = await prepareSeed(sftConfig, { seed }, {});
  const asked = { run: (await prepareOwn(options)).loaded.config, warmUp: warmUp.loaded.config };
  const text = `${JSON.stringify(asked, null, 1)}\n`;
  const file = path.join(folder, 'asked.json');
  if (!existsSync(file)) return writeFileAtomic(file, text);
  if (readFileSync(file, 'utf8') === text) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${folder} holds results of other settings (see ${file}). Set --out to another folder, or use those settings.`,
  );
}

/** A part of a seed's controls: read where it was made before, and else made and written. */
export async function readOnce<T>(
  { seed, folder, signal, print }: SeedOptions,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const file = path.join(folder, `${name}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  print(`Seed ${seed}: ${name}`);
  const value = await make();
  signal.throwIfAborted();
  writeFileAtomic(file, `${JSON.stringify(value, null, 1)}\n`);
  return value;
}
