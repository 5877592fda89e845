import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type {
  EpisodePage,
  EpisodeWhole,
  MetricColumns,
  RunEvent,
  RunHead,
} from '#agent_rl/runs/view/api.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { makeAcmeProject, readLines } from '../support/acme-project.ts';
import { sets, startProgram, type StartedProgram } from '../support/built-program.ts';
import { episodesIn, partsIn } from '../support/journal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * The real program looks at real runs: one while it trains, is killed, is resumed and ends, and then all of it again from
 * the index that it left.
 */

const project = temporaryFolder();
const folder = join(project, 'runs', 'seen');
/** More than it will make before it is killed; the resume ends it early. */
const iterations = 400;
let last = 0;

const train = (...words: string[]): StartedProgram =>
  startProgram('agent-rl', ['train', ...words], project);

interface Viewer {
  program: StartedProgram;
  ask: <Answer>(path: string) => Promise<Answer>;
  events: RunEvent[];
}

let viewer: Viewer | undefined;
const stop = new AbortController();

/** Starts the program on a free port and listens to its events. */
async function view(...words: string[]): Promise<Viewer> {
  const program = startProgram('agent-rl', ['view', ...words, '--port', '0'], project, {
    timeoutMs: 400_000,
  });
  await program.wrote(/Stop with Ctrl-C/);
  const { stdout } = program.soFar();
  const address = new URL(/View: (\S+)/.exec(stdout)?.[1] ?? '');
  const headers = { authorization: `Bearer ${address.searchParams.get('token')}` };
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(new URL(path, address), { headers });
    const text = await response.text();
    expect({ path, status: response.status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as Answer;
  };
  const events: RunEvent[] = [];
  const stream = await fetch(new URL('/api/events', address), { headers, signal: stop.signal });
  void (async () => {
    let text = '';
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const whole = text.split('\n\n');
      text = whole.pop() ?? '';
      for (const event of whole) events.push(JSON.parse(event.replace('data: ', '')) as RunEvent);
    }
  })().catch(() => undefined);
  return { program, ask, events };
}

/** Waits for an event. */
async function seen(wanted: (event: RunEvent) => boolean): Promise<RunEvent> {
  for (let waited = 0; waited < 90_000; waited += 50) {
    const found = viewer?.events.findLast(wanted);
    if (found !== undefined) return found;
    await setTimeout(50);
  }
  throw new Error(`Not seen in ${JSON.stringify(viewer?.events.slice(-5))}`);
}

const allRows = async () =>
  (await viewer!.ask<EpisodePage>('/api/runs/seen/episodes?limit=500')).rows;

beforeAll(() => makeAcmeProject(project));

afterAll(async () => {
  stop.abort();
  viewer?.program.kill();
  await viewer?.program.ended;
});

test('the viewer follows a run while it trains, and notices when it is killed', async () => {
  const settings = ['run.name=seen', 'checkpoint.every=1', `train.iterations=${iterations}`];
  const training = train('--config', 'train.yaml', '--seed', '5', ...sets(...settings));
  await training.wrote(/Computes on/);
  viewer = await view();
  const live = await seen(({ state, iteration }) => state === 'training' && iteration >= 1);
  expect(live).toMatchObject({ run: 'seen' });
  // Before the end, whose summary would tell.
  training.kill();
  await training.ended;
  expect(existsSync(join(folder, 'summary.json'))).toBe(false);
  const dead = await seen(({ state }) => state === 'interrupted');
  last = dead.iteration + 2;
  const [head] = await viewer.ask<RunHead[]>('/api/runs');
  expect(head).toMatchObject({
    state: 'interrupted',
    stateWhy: expect.stringMatching(/^process \d+ no longer runs$/) as unknown,
    plannedIterations: iterations,
    seed: 5,
  });
});

test('the viewer has each episode once after a resume, like the records', async () => {
  const { code } = await train('--resume', folder, '--max-iterations', String(last)).ended;
  expect(code).toBe(0);
  await seen(({ state, index }) => state === 'finished' && index.ready);
  const rows = await allRows();
  const trained = await partsIn(folder, 'train');
  const held = await episodesIn(folder, 'eval');
  const recorded = [...trained.map(({ episode }) => episode), ...held];
  expect(
    rows.map(({ taskId, sample, iteration, reward }) => [taskId, sample, iteration, reward]),
  ).toEqual(
    recorded.map(({ taskId, sample, iteration, reward }) => [taskId, sample, iteration, reward]),
  );
  const learned = rows
    .filter(({ when }) => when === 'train')
    .map(({ use, advantage }) => [use, advantage]);
  expect(learned).toEqual(trained.map(({ learned: one }) => [one?.use, one?.advantage]));
  const metrics = await viewer!.ask<MetricColumns>('/api/runs/seen/metrics');
  expect(metrics.iterations).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  expect(metrics.columns['rollout/rewardMean']).toEqual(
    readLines(folder, 'metrics.jsonl').map((line) => line['rollout/rewardMean']),
  );
});

test("an episode has the text of its tokens and the learner's log-probabilities", async () => {
  const rows = await allRows();
  const row = rows.find(({ use }) => use === 'trained') ?? rows[0]!;
  const whole = await viewer!.ask<EpisodeWhole>(`/api/runs/seen/episodes/${row.id}`);
  const { ids, texts, logProbs, learned } = whole.sequences[0]!;
  const tokenizer = await Tokenizer.fromFolder(join(project, 'model'));
  expect(texts?.join('')).toBe(tokenizer.decode(ids));
  for (const [at, sampled] of logProbs.entries()) {
    if (sampled === null) continue;
    // Parity of generator and learner, float32.
    expect(learned?.logProbs[at]).toBeCloseTo(sampled, 3);
    expect(learned?.ratios[at]).toBeCloseTo(1, 2);
    expect(learned?.weights[at]).toBeGreaterThan(0);
  }
  const own = (await episodesIn(folder, 'train')).filter(
    ({ taskId, iteration }) => taskId === row.taskId && iteration === row.iteration,
  );
  expect(whole.siblings).toHaveLength(own.length - 1);
});

test('Ctrl-C stops the viewer, which leaves nothing behind, and the next one shows the same', async () => {
  viewer!.program.interrupt();
  const { stderr } = await viewer!.program.ended;
  expect(stderr).not.toMatch(/UNEXPECTED/);
  const files = readdirSync(join(folder, 'journal'));
  const others = files.filter((name) => !/^\d{10}\.[\da-f]{8}\.parquet$/.test(name));
  expect(others).toEqual([]);
  viewer = await view('runs/seen');
  const { index, rows } = await viewer.ask<EpisodePage>('/api/runs/seen/episodes');
  expect(index).toMatchObject({ ready: true, unreadableCount: 0 });
  expect(rows[0]?.taskId).toBe((await episodesIn(folder, 'train'))[0]?.taskId);
});
