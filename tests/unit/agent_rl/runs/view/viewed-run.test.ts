import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import type { TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import { searchText } from '#agent_rl/runs/view/episodes/search-text.ts';
import type { EpisodeTokens } from '#agent_rl/runs/view/api.ts';
import { ViewedRun } from '#agent_rl/runs/view/viewed-run.ts';
import { damageEvent, writeEvents, sessionEvent } from '#tests/support/journal.ts';
import {
  episodeEvent,
  learnedPart,
  record,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { sequence } from '#tests/support/rollouts.ts';

const runs = temporaryFolder();
const folder = recordedFolder(runs, 'run', {
  model: { path: join(packageRoot(), 'model', 'starter') },
});
const run = new ViewedRun('run', folder.path);

const hostile = '<script>alert(1)</script>\u001b[31m\u0000';
const call = { id: 'call_0_0', name: 'add', arguments: { n: hostile, ['__proto__']: 1 } };
/** A sample of one group: its prompt is 1 2, and what was sampled begins with 10. */
const sampled = (sample: number, ...tokens: TranscriptRecord[]) =>
  ({ iteration: 1, sample, taskId: 'sum', reward: sample, sequences: tokens }) as const;
const other = { ...sequence(2, 3), tokens: [1, 2, 10, 11, 13] };

beforeAll(async () => {
  const sent = { update: 0, weights: 0.25, advantages: [1, 2, 3], logProbs: [-0.5, -0.5, -1] };
  const unused = { use: 'zero-advantage', advantage: 0 } as const;
  record(
    folder,
    episodeEvent({
      ...sampled(0, sequence(2, 3)),
      messages: [
        user(`What is the Answer? ${hostile}`),
        { role: 'assistant', content: 'x'.repeat(100_001), toolCalls: [call] },
        { role: 'tool', name: 'add', callId: call.id, content: 'two' },
      ],
      calls: [{ call, status: 'ok', result: { content: 'two', data: { sum: 2 } }, wallMs: 12 }],
      hiddenInputs: { [call.id]: { answer: 'secret' } },
      components: { solved: 0 },
      scores: { environment: 0 },
      judgedBy: { environment: 'sums', environmentWeight: 1, rewards: [] },
      record: { hidden_tests: ['passed', 'wrong-answer'] },
    }),
    episodeEvent(sampled(1, other)),
    episodeEvent(sampled(2, sequence(2, 4))),
    learnedEvent(learnedPart({ ...sampled(0, sequence(2, 3)), advantage: 2, sent: [sent] })),
    learnedEvent(learnedPart({ ...sampled(1, other), ...unused })),
    episodeEvent({ ...sampled(0, sequence(2, 3), sequence(2, 4)), iteration: 2 }),
  );
  await run.index.update();
});

const whole = async (id: string, uncut = false) => (await run.episode(id, uncut))!;

describe('An episode', () => {
  test('has its messages as they were, however hostile, and very long ones cut', async () => {
    const { record: shown, cut } = await whole('train/1/0/0/0');
    expect(shown.messages[0]?.content).toBe(`What is the Answer? ${hostile}`);
    expect(shown.messages[1]?.content).toBe('x'.repeat(100_000));
    expect(cut).toEqual([{ path: 'messages[1].content', characters: 100_001, shown: 100_000 }]);
    const given = shown.toolCalls[0]?.arguments as object;
    expect(Object.getOwnPropertyNames(given)).toEqual(['n', '__proto__']);
    const uncut = await whole('train/1/0/0/0', true);
    expect([uncut.record.messages[1]?.content.length, uncut.cut]).toEqual([100_001, []]);
  });

  test('has its verdict, each hidden test, and what of tools the policy did not see', async () => {
    const { record: shown } = await whole('train/1/0/0/0');
    expect(shown).toMatchObject({
      toolCalls: [{ status: 'ok', content: 'two', wallMs: 12 }],
      components: { solved: 0 },
      judgedBy: { environment: 'sums' },
      groupReward: null,
      hidden_tests: ['passed', 'wrong-answer'],
    });
    expect(shown.hidden).toEqual({
      toolInputs: { [call.id]: { answer: 'secret' } },
      toolData: { [call.id]: { sum: 2 } },
    });
    expect((await whole('train/1/0/0/1')).record.hidden_tests).toBe(undefined);
  });

  test('has its tokens with their source, probability and advantage', async () => {
    const { sequences, learned, turns } = await whole('train/1/0/0/0');
    const [tokens] = sequences as [EpisodeTokens];
    expect(turns).toMatchObject([{ tokens: 3, version: 1 }]);
    expect(tokens.texts).toHaveLength(5);
    expect(learned).toMatchObject({ use: 'trained', advantage: 2 });
    expect(tokens).toMatchObject({
      ids: [1, 2, 10, 11, 12],
      problem: null,
      logProbs: [null, null, -0.5, -0.5, -0.5],
      learned: {
        update: 0,
        weights: [null, null, 0.25, 0.25, 0.25],
        advantages: [null, null, 1, 2, 3],
        logProbs: [null, null, -0.5, -0.5, -1],
        ratios: [null, null, 1, 1, Math.exp(-0.5)],
      },
    });
  });

  test('says why it was not trained on, or that this was not recorded', async () => {
    const without = await whole('train/1/0/0/1');
    expect(without.learned?.meaning).toMatch('exactly as good as its group');
    expect(without.sequences[0]?.learned).toBe(null);
    expect((await whole('train/1/0/0/2')).learned).toBe(null);
  });

  test('counts a turn once that several sequences hold', async () => {
    const { sequences, turns } = await whole('train/2/0/0/0');
    expect(sequences.map(({ ids }) => ids.length)).toEqual([5, 6]);
    expect(turns.map(({ tokens }) => tokens)).toEqual([3, 1]);
  });

  test('has the others of its group, and where they diverge from it', async () => {
    const { siblings } = await whole('train/1/0/0/0');
    const found = siblings.map(({ row, partsAt }) => `${row.id} at ${partsAt}`);
    expect(found).toEqual(['train/1/0/0/1 at 4', 'train/1/0/0/2 at 5']);
  });

  test('is not found where it does not exist', async () => {
    for (const id of ['train/1/0/0/9', '../../etc/passwd'])
      expect(await run.episode(id, false)).toBe(undefined);
  });
});

describe('A search through texts', () => {
  const found = async (text: string) => {
    const page = await run.episodes(new URLSearchParams({ text }));
    return { ids: page.rows.map(({ id }) => id), search: page.search };
  };

  test('ignores case, and finds neither names of fields nor hidden inputs', async () => {
    for (const text of ['the answer', '<SCRIPT>', 'two'])
      expect((await found(text)).ids).toEqual(['train/1/0/0/0']);
    for (const text of ['logProbs', 'secret']) expect((await found(text)).ids).toEqual([]);
  });

  test('says how far it came, and continues from there', async () => {
    const { search } = await found('nowhere');
    expect(search).toMatchObject({ searched: 4, of: 4, next: null });
    const all = run.index.all();
    const request = { text: 'sum', limit: 9, index: run.index };
    const first = await searchText(all, { ...request, offset: 0, mostBytes: 1 });
    expect(first.search).toMatchObject({ searched: 1, of: 4, mostBytes: 1, next: 1 });
    const rest = await searchText(all, { ...request, offset: 1 });
    expect([first.found.length, rest.found.length, rest.search.next]).toEqual([1, 3, null]);
  });
});

test('tasks are counted by iteration', () => {
  const byIteration = [
    { iteration: 1, when: 'train', attempts: 3, successes: 2, rewardMean: 1 },
    { iteration: 2, when: 'train', attempts: 1, successes: 0, rewardMean: 0 },
  ];
  const counts = { taskId: 'sum', attempts: 4, successes: 2, lastIteration: 2, byIteration };
  expect(run.tasks()).toMatchObject([counts]);
});

test('a missing tokenizer is reported, and tokens are shown by their numbers', async () => {
  const bare = recordedFolder(runs, 'bare', { model: { path: '/nowhere' } });
  record(bare, episodeEvent({ iteration: 1, taskId: 'a' }));
  const viewed = new ViewedRun('bare', bare.path);
  await viewed.index.update();
  const [tokens] = (await viewed.episode('train/1/0/0/0', false))!.sequences as [EpisodeTokens];
  expect(tokens.texts).toBe(null);
  expect(tokens.problem).toMatch(/^There is no tokenizer.json in .*checkpoints or \/nowhere$/);
});

test('a run of an older build is listed once with that reason, and is not indexed', async () => {
  const old = recordedFolder(runs, 'old');
  writeEvents(old.path, [sessionEvent({ schema: 0 }), episodeEvent({ iteration: 1 })]);
  writeFileSync(old.summary, '{}');
  const viewed = new ViewedRun('old', old.path);
  await viewed.update();
  const { index, problem, state, stateWhy } = viewed.head();
  expect(problem).toMatch(/ was recorded by an older version/);
  expect({ state, stateWhy }).toEqual({ state: 'unknown', stateWhy: problem });
  expect(viewed.facts().head).toMatchObject({ problem });
  expect(index).toMatchObject({ ready: true, unreadable: [], unreadableCount: 0 });
});

describe('A run with damaged records', () => {
  const damaged = recordedFolder(runs, 'damaged');
  const viewed = new ViewedRun('damaged', damaged.path);

  test('counts unreadable lines of metrics together with damaged events', async () => {
    const offset = damageEvent(record(damaged, episodeEvent({ iteration: 1 })), 1);
    writeFileSync(damaged.metrics, '{"iteration":1}\n{"iteration":\n{"loss":1}\n{"iteration":4}\n');
    const before = viewed.stamp();
    await viewed.update();
    expect(viewed.stamp()).not.toBe(before);
    const { index } = viewed.head();
    expect(index.unreadableCount).toBe(3);
    const event = new RegExp(`open: the event at byte ${offset}: its checksum`);
    const places = [event, /metrics\.jsonl:2: /, /metrics\.jsonl:3: it holds no/];
    places.forEach((place, at) => expect(index.unreadable[at]).toMatch(place));
    expect((await viewed.episodes(new URLSearchParams())).index).toEqual(index);
    expect((await viewed.metrics(0)).iterations).toEqual([1, 4]);
  });

  test.each(['summary', 'config'] as const)('has an unknown state because of its %s', (name) => {
    writeFileSync(damaged.log, '2026-01-02T03:04:05.678Z info It began\n');
    const intact = existsSync(damaged[name]) ? readFileSync(damaged[name]) : undefined;
    writeFileSync(damaged[name], '[');
    const head = viewed.head();
    expect(head.problem).toContain(`${damaged[name]} cannot be read`);
    expect(head).toMatchObject({ state: 'unknown', stateWhy: head.problem });
    if (intact === undefined) rmSync(damaged[name]);
    else writeFileSync(damaged[name], intact);
  });
});

test('the timeline of an iteration shows the spans of the profile, or else the seconds of the metrics', async () => {
  const seconds = { 'seconds/collect': 2, 'seconds/total': 3 };
  const metrics = { iteration: 1, ...seconds, 'train/loss': 1 };
  writeFileSync(folder.metrics, `${JSON.stringify(metrics)}\n`);
  expect(await run.timeline(1)).toMatchObject({
    iteration: 1,
    tracks: null,
    activities: Object.entries({ collect: 2, total: 3 }).map(([name, s]) => ({ name, seconds: s })),
    tools: [{ name: 'add', calls: 1, errors: 0, ms: 12 }],
  });
  const meta = { name: 'thread_name', ph: 'M' };
  const thread = (tid: number, name: string) => ({ ...meta, tid, args: { name } });
  const span = (tid: number, name: string, [start, lasting]: [number, number], more = {}) =>
    Object.assign({ name, ph: 'X', tid, ts: 1e6 * start, dur: 1e6 * lasting }, more);
  const [first, second] = [1, 2].map((at) => ({ args: { of: `iteration ${at}` } }));
  const traceEvents = [
    thread(1, 'trainer'),
    thread(2, 'sandbox'),
    span(1, 'collect', [1, 2], first),
    span(1, 'collect', [9, 1], second),
    span(2, 'program', [2, 0.5]),
    span(2, 'program', [5, 0.5]),
  ];
  writeFileSync(folder.profile, JSON.stringify({ traceEvents }));
  const { tracks } = await run.timeline(1);
  const collect = { name: 'collect', start: 0, seconds: 2, ...first };
  const program = { name: 'program', start: 1, seconds: 0.5 };
  expect(tracks).toEqual([
    { name: 'trainer', spans: [collect], leftOut: 0 },
    { name: 'sandbox', spans: [program], leftOut: 0 },
  ]);
  expect((await run.timeline(3)).tracks).toBe(null);
});

test('the hashes of a checkpoint come from its manifest, or say why it cannot be read', () => {
  const saved = recordedFolder(runs, 'saved');
  const manifests = ['{"files": {"weights": "ab12"}}', '{"files": {"weig', '{}'];
  for (const [at, manifest] of manifests.entries()) {
    writeBelow(saved.checkpoints, `${at}/manifest.json`, manifest);
    writeBelow(saved.checkpoints, `${at}/weights`, '');
  }
  const { files } = new ViewedRun('saved', saved.path).facts();
  const unreadable = 'manifest.json cannot be read: ';
  expect(files.filter(({ path }) => path.endsWith('/weights'))).toMatchObject([
    { sha256: 'ab12' },
    { sha256: null, sha256Problem: expect.stringMatching(`^${unreadable}.*JSON`) },
    { sha256: null, sha256Problem: `${unreadable}it names no files` },
  ]);
});
