import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { loadConfig, resolvedYaml, type LoadedConfig } from '../../../agent_rl/config/index.ts';

/**
 * The summary of a finished run of exactly this config under `runs`, its folder as `run`. Where the run was written and
 * what it logged may differ: nothing it learned depends on those.
 */
export function findRun(
  runs: string,
  { config }: LoadedConfig,
): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(runs)) return undefined;
  for (const name of readdirSync(runs).toSorted()) {
    const folder = path.join(runs, name);
    const [summaryFile, configFile] = ['summary.json', 'config.yaml'].map((file) =>
      path.join(folder, file),
    ) as [string, string];
    if (!existsSync(summaryFile) || !existsSync(configFile)) continue;
    const theirs = loadConfig({ file: configFile }).config;
    if (essence(theirs) !== essence(config)) continue;
    const summary = JSON.parse(readFileSync(summaryFile, 'utf8')) as Record<string, unknown>;
    if (summary['interrupted'] !== true) return { ...summary, run: folder };
  }
  return undefined;
}

function essence(config: LoadedConfig['config']): string {
  const { seed, device } = config.run;
  const { checkpoint: _, ...rest } = config;
  return resolvedYaml({ ...rest, run: { seed, device } } as unknown as LoadedConfig['config']);
}
