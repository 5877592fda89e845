import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { EpisodeRecord } from '#agent_rl/runs/episodes/read-episodes.ts';
import { writeSmallModel } from './small-model.ts';

const fixture = join(packageRoot(), 'tests', 'fixtures', 'acme-arithmetic');

/**
 * Makes a folder a project of its own, far from this repository: the package @acme/arithmetic installed, its run files
 * beside it and a small model with random weights to train.
 */
export async function makeAcmeProject(folder: string): Promise<void> {
  cpSync(fixture, join(folder, 'node_modules', '@acme', 'arithmetic'), { recursive: true });
  for (const name of ['run.yaml', 'train.yaml', 'local-reward.ts', 'vowels.ts', 'tasks']) {
    cpSync(join(fixture, name), join(folder, name), { recursive: true });
  }
  await writeSmallModel(join(folder, 'model'));
}

export type Line = Readonly<Record<string, unknown>>;

export const readJson = (...path: string[]): Line =>
  JSON.parse(readFileSync(join(...path), 'utf8')) as Line;

export const readLines = (...path: string[]): Line[] =>
  readFileSync(join(...path), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** Every file below a folder, as paths. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** What a run's records of episodes say apart from times, and from what a sandbox measures of a program. */
export const withoutTimes = (episodes: readonly EpisodeRecord[]): unknown[] =>
  episodes.map(({ seconds: _seconds, run: _run, ...rest }) => withoutMeasures(rest));

const withoutMeasures = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, of: unknown) =>
      ['wallMs', 'cpuMs', 'peakRssBytes'].includes(key) ? undefined : of,
    ),
  );
