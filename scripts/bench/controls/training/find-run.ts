import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import {
  readInputs,
  type RunInputs,
  type RunSources,
} from '../../../../agent_rl/runs/inputs/run-inputs.ts';
import { loadConfig, type LoadedConfig } from '../../../../agent_rl/config/index.ts';
import { canonicalJson } from '../../../../agent_rl/core/services/canonical-json.ts';

type Config = LoadedConfig['config'];

/**
 * The summary of a finished run under `runs` of exactly this config, tasks and starting weights, its folder as `run`.
 * Where these were read from, where the run was written, what it logged and how many workers it had may differ: nothing it learned depends on those.
 */
export async function findRun(
  runs: string,
  config: Config,
  sources: RunSources,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!existsSync(runs)) return undefined;
  const wanted = { config: essence(config), inputs: begunWith(await readInputs(sources)) };
  for (const name of readdirSync(runs).toSorted()) {
    const folder = path.join(runs, name);
    const fileOf = (file: string): string => path.join(folder, file);
    const files = ['summary.json', 'config.yaml', 'inputs.json'].map(fileOf);
    if (!files.every((file) => existsSync(file))) continue;
    const inputs = JSON.parse(readFileSync(fileOf('inputs.json'), 'utf8')) as RunInputs;
    if (begunWith(inputs) !== wanted.inputs) continue;
    if (essence(loadConfig({ file: fileOf('config.yaml') }).config) !== wanted.config) continue;
    const text = readFileSync(fileOf('summary.json'), 'utf8');
    const summary = JSON.parse(text) as Record<string, unknown>;
    if (summary['interrupted'] !== true) return { ...summary, run: folder };
  }
  return undefined;
}

/** Inputs except the machines, which decide only floating-point differences. */
const begunWith = ({ machines: _machines, ...inputs }: RunInputs): string => JSON.stringify(inputs);

/** All settings that what is learned depends on, but those that name files: their contents are compared. */
function essence(config: Config): string {
  const { seed, device } = config.run;
  const { checkpoint: _, ...rest } = config;
  const rollout = { ...config.rollout, workers: 1 };
  const datasets = config.datasets.map(({ weight }) => weight);
  const { path: _path, ...model } = config.model;
  return canonicalJson({ ...rest, rollout, model, datasets, run: { seed, device } });
}
