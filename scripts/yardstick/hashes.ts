import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

import { onlyAgent } from '../../agent_rl/core/rollout.ts';
import {
  type EpisodeFile,
  type EpisodeRecord,
  episodesOf,
} from '../../agent_rl/runs/episodes/read-episodes.ts';
import { runFolderAt } from '../../agent_rl/runs/run-folder.ts';

/** First digits of SHA-256 of each thing that a run recorded: tokens, log-probabilities, verdicts, evaluations, weights. */
export type RunHashes = Readonly<Record<string, string>>;

export interface Yardstick {
  /** The processor and libraries: besides the program, they decide floating-point differences. */
  machine: string;
  jobs: Record<string, RunHashes>;
}

type Part = Pick<
  EpisodeRecord,
  'taskId' | 'sample' | 'agent' | 'sequences' | 'outcome' | 'success' | 'reward'
>;

const digits = 12;
const shortHash = (parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, digits);
};

async function partsIn(run: string, file: EpisodeFile): Promise<Part[]> {
  const all: Part[] = [];
  for await (const parts of episodesOf(runFolderAt(run), { file }))
    for (const { episode } of parts) all.push(episode);
  return all;
}

/** The only agent of a rollout is not part of the hash. */
const agentOf = ({ agent }: Part): string | undefined => (agent === onlyAgent ? undefined : agent);

const hashOf = (of: readonly Part[], what: (part: Part) => unknown): string =>
  shortHash(
    of.map((one) => `${JSON.stringify([one.taskId, one.sample, agentOf(one), what(one)])}\n`),
  );

const tokensOf = ({ sequences }: Part) => sequences.flatMap(({ tokens }) => tokens);

const verdict = ({ outcome, success, reward }: Part) => [outcome, success, reward];

const step = (name: string): number => Number(name.replace('step-', ''));

/** Hashes of the newest checkpoint: weights, adapter and optimiser. */
function weightsHash(run: string): string {
  const folder = join(run, 'checkpoints');
  const [newest = ''] = readdirSync(folder).toSorted((a, b) => step(b) - step(a));
  const files = readdirSync(join(folder, newest)).filter((name) => name.endsWith('.safetensors'));
  return shortHash(files.toSorted().map((name) => readFileSync(join(folder, newest, name))));
}

/** Hashes of the records of a run; supervised training learns from no episodes and has only weights. */
export async function hashesOf(run: string): Promise<RunHashes> {
  const weights = weightsHash(run);
  const trained = await partsIn(run, 'train');
  if (trained.length === 0) return { weights };
  const evaluated = await partsIn(run, 'eval');
  return {
    tokens: hashOf(trained, tokensOf),
    logProbs: hashOf(trained, ({ sequences }) => sequences.flatMap(({ logProbs }) => logProbs)),
    verdicts: hashOf(trained, verdict),
    evaluation: hashOf(evaluated, (one) => [tokensOf(one), verdict(one)]),
    weights,
  };
}

export const shownHashes = (hashes: RunHashes): string =>
  Object.entries(hashes)
    .map(([name, hash]) => `${name} ${hash}`)
    .join('  ');

/** A line for each hash of today's jobs that is not the fixture's; jobs that did not run are not compared. */
export function differences(before: Yardstick, now: Yardstick): string[] {
  const lines = Object.entries(now.jobs).flatMap(([job, hashes]) => {
    const old = before.jobs[job] ?? {};
    return Object.keys({ ...old, ...hashes })
      .filter((name) => old[name] !== hashes[name])
      .map((name) => `${job}: ${name} ${old[name] ?? '-'} -> ${hashes[name] ?? '-'}\n`);
  });
  if (lines.length === 0 || before.machine === now.machine) return lines;
  return [...lines, `The fixture was made on another machine: ${before.machine}.\n`];
}

/** Vector instructions decide in which order sums are taken. */
export function yardstickMachine(): string {
  const info = '/proc/cpuinfo';
  const flags = existsSync(info) ? readFileSync(info, 'utf8').split(/\s+/u) : [];
  const vectors = ['amx_tile', 'avx512f', 'avx2'].find((flag) => flags.includes(flag));
  const parts = [`${process.platform} ${process.arch}`, cpus()[0]?.model, vectors, process.version];
  return parts.filter((part) => part !== undefined).join(', ');
}
