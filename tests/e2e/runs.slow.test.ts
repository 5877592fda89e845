import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { corruption } from '#agent_rl/runs/checkpoints.ts';
import {
  filesBelow,
  type Line,
  makeAcmeProject,
  readJson,
  readLines,
  withoutTimes,
} from '../support/acme-project.ts';
import {
  builtProgram,
  endedWith,
  sets,
  startProgram,
  succeeded,
} from '../support/built-program.ts';
import { episodesIn, eventsOf } from '../support/journal.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const agentRl = residentProgram('agent-rl');
const iterations = 12;
const canary = 'canary-0f2e4d6c';
let printed = '';

const folderOf = (name: string): string => join(project, 'runs', name);
const args = (name: string, ...more: string[]): string[] => [
  'train',
  '--config',
  'train.yaml',
  ...sets(`run.name=${name}`, `train.iterations=${iterations}`),
  ...sets('train.schedule=cosine', 'train.warmupSteps=2'),
  ...sets('eval.before=false', 'eval.after=false'),
  ...more,
];
const train = (name: string, ...more: string[]) =>
  builtProgram('agent-rl', args(name, ...more), project, {
    ...process.env,
    SECRET_API_KEY: canary,
    HARMLESS: 'harmless',
  });
/** Places where two lists differ. */
const differing = (a: readonly string[], b: readonly string[]): number[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => index).filter(
    (index) => a[index] !== b[index],
  );
const weights = (name: string): unknown =>
  readJson(folderOf(name), 'summary.json')['weightsSha256'];
/** One text per episode: a difference is then a short one. */
const episodes = async (name: string): Promise<string[]> =>
  withoutTimes(await episodesIn(folderOf(name), 'train')).map((one) => JSON.stringify(one));

beforeAll(() => makeAcmeProject(project));

test('a run records every episode', async () => {
  const ended = train('whole', '--log-rollouts', ...sets('run.logLevel=debug'));
  expect(await episodes('whole')).toHaveLength(iterations * 8);
  printed = succeeded(ended) + ended.stderr;
});

test('no file and no output of a run contains a secret of the environment', async () => {
  expect(printed).toContain('Outputs:');
  expect(printed).not.toContain(canary);
  const files = filesBelow(folderOf('whole'));
  expect(files.length).toBeGreaterThan(8);
  expect(files.filter((file) => readFileSync(file).includes(canary))).toEqual([]);
  // Files of the journal are compressed.
  const events = await eventsOf(folderOf('whole'));
  expect(events.length).toBeGreaterThan(iterations * 8);
  expect(JSON.stringify(events)).not.toContain(canary);
});

describe('An interrupted run', () => {
  const checkpoint = (): string => String(readJson(folderOf('cut'), 'summary.json')['checkpoint']);

  test('keeps an intact checkpoint after Ctrl-C and prints how to resume', async () => {
    const run = startProgram('agent-rl', args('cut', '--async-rollout-workers', '1'), project);
    await run.wrote(/Checkpoint \(periodic\): .*step-2/);
    run.interrupt();
    // As npx hands it on: one press that comes twice.
    await run.wrote(/Stopping at the next safe point/);
    run.interrupt();
    expect(endedWith(130, await run.ended)).toContain(
      `Interrupted. Continue: npx agent-rl train --resume ${folderOf('cut')}\n`,
    );
    expect(readJson(folderOf('cut'), 'summary.json')).toMatchObject({ interrupted: true });
    expect(readFileSync(join(folderOf('cut'), 'report.html'), 'utf8')).toMatch(
      /The run was interrupted after \d+ iterations\./,
    );
    expect(await corruption(checkpoint())).toBeUndefined();
    expect(readJson(folderOf('cut'), 'summary.json')['iterations']).toBeLessThan(iterations);
  });

  test('skips a corrupt checkpoint with a warning and ends with the weights of an uninterrupted run', async () => {
    const torn = join(checkpoint(), 'model.safetensors');
    const bytes = readFileSync(torn);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(torn, bytes);
    const stdout = succeeded(await agentRl(['train', '--resume', folderOf('cut')], project));
    expect(stdout).toContain('is skipped: model.safetensors is missing or damaged');
    expect(weights('cut')).toBe(weights('whole'));
    const summary = readJson(folderOf('cut'), 'summary.json');
    expect(summary['sessions']).toBe(2);
    const { sampledTokens } = summary['generation'] as Line;
    const fates = Object.values(summary['ledger'] as Record<string, number>);
    // Tokens that the resume took from the journal were sampled after the last whole checkpoint of the session before it.
    const trained = fates.reduce((sum, tokens) => sum + tokens, 0);
    expect(sampledTokens).toBeLessThanOrEqual(trained);
    expect(sampledTokens).toBeGreaterThan(trained / 2);
    expect(differing(await episodes('cut'), await episodes('whole'))).toEqual([]);
    const steps = readLines(folderOf('cut'), 'metrics.jsonl').map(({ iteration }) => iteration);
    expect(steps).toEqual(Array.from({ length: iterations }, (_, index) => index + 1));
  });
});

describe('A run that --max-iterations ends', () => {
  const resumed = (...more: string[]) => agentRl(['train', '--resume', ...more], project);
  const evaluated = async (): Promise<string[]> =>
    (await episodesIn(folderOf('begun'), 'eval')).map(({ when }) => when);

  test('prints how to continue, and can go neither back nor on from one of its checkpoints', async () => {
    const evaluates = sets('eval.before=true', 'eval.after=true');
    const { stdout } = await agentRl(args('begun', ...evaluates, '--max-iterations', '2'), project);
    const on = ['--resume', folderOf('begun'), '--max-iterations'];
    expect(stdout).toContain(
      `Ended after 2 of ${iterations} iterations. Continue: npx agent-rl train ${on.join(' ')} ${iterations}\n`,
    );
    const back = await resumed(folderOf('begun'), '--max-iterations', '1');
    const pointed = await resumed(join(folderOf('begun'), 'checkpoints', 'step-2'));
    expect([back.code, pointed.code]).toEqual([2, 2]);
    expect(back.stderr).toContain('has already completed 2 iterations');
    expect(pointed.stderr).toContain(`--resume ${folderOf('begun')}`);
  });

  test('equals the beginning of a longer run and can be continued to it', async () => {
    const { code } = await resumed(folderOf('begun'), '--max-iterations', String(iterations));
    expect(code).toBe(0);
    expect(weights('begun')).toBe(weights('whole'));
    expect(differing(await episodes('begun'), await episodes('whole'))).toEqual([]);
  });

  test('is not evaluated twice when it is resumed after its end', async () => {
    const first = await evaluated();
    expect(first.length).toBeGreaterThan(0);
    expect((await resumed(folderOf('begun'))).code).toBe(0);
    expect(await evaluated()).toEqual(first);
  });
});
