import * as fs from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import { frameOf } from '#agent_rl/runs/journal/event-frame.ts';
import { JournalWriter } from '#agent_rl/runs/journal/journal-writer.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import { rolloutEvent } from '#agent_rl/runs/journal/rollout-event.ts';
import { EpisodeIndex } from '#agent_rl/runs/view/index/episode-index.ts';
import {
  addEvents,
  brokenFrame,
  damageEvent,
  endsOf,
  sessionEvent,
  writeEvents,
} from '#tests/support/journal.ts';
import {
  episodeEvent,
  learnedPart,
  record,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { part, played, rollout } from '#tests/support/rollouts.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const runs = temporaryFolder();
const ids = (index: EpisodeIndex) => index.all().map(({ row }) => row.id);

let made = 0;
/** A run with these events in its journal, and the file that they stand in. */
const newFolder = (...events: JournalEvent[]) => {
  const folder = recordedFolder(runs, `run-${++made}`);
  return { folder, file: record(folder, ...events) };
};
type Folder = ReturnType<typeof recordedFolder>;
const real = episodeEvent({ iteration: 1, taskId: 'real' });
const realId = 'train/1/0/0/0';
const second = episodeEvent({ iteration: 1, slot: 1, taskId: 'second' });
const secondId = 'train/1/0/1/0';

async function indexOf(folder: Folder): Promise<EpisodeIndex> {
  const index = new EpisodeIndex(folder);
  await index.update();
  return index;
}

describe('A row of the index', () => {
  test('has the facts of an episode', async () => {
    const call = { id: 'call_0_0', name: 'add', arguments: {} };
    const failing = { call, status: 'error' as const, result: { content: 'no' }, wallMs: 1 };
    const { folder } = newFolder(
      episodeEvent({
        iteration: 3,
        taskId: 'sum/1',
        sample: 2,
        slice: 'hard',
        slot: 4,
        messages: [user(`What \n is ${'x'.repeat(200)}?`)],
        calls: [failing, { ...failing, status: 'ok' }],
        malformedCalls: 1,
        reward: 0.25,
        success: false,
        turns: 3,
        seconds: { generation: 1, tools: 0.5, grading: 0.25 },
      }),
    );
    const [only] = (await indexOf(folder)).all();
    // What was learned is left out where it was not recorded, instead of 0.
    expect(only?.row).toStrictEqual({
      id: 'train/3/0/4/2',
      when: 'train',
      iteration: 3,
      taskId: 'sum/1',
      sample: 2,
      agent: 'policy',
      outcome: 'completed',
      success: false,
      reward: 0.25,
      turns: 3,
      calls: 2,
      toolNames: ['add'],
      errors: 2,
      sampledTokens: 3,
      seconds: 1.75,
      slice: 'hard',
      group: 'train/3/0/4/policy',
      question: `What is ${'x'.repeat(110)}`,
    });
  });

  test('has a unique name for held-out episodes and for each of several agents', async () => {
    const duet = rollout([part(), part({ agent: 'a' })], { when: 'train', iteration: 1 });
    const held = episodeEvent({ iteration: 0, when: 'before' });
    const { folder } = newFolder(held, rolloutEvent(duet, []));
    const index = await indexOf(folder);
    expect(ids(index)).toEqual([realId, `${realId}/a`, 'before/0/0/0/0']);
    expect([index.count('train'), index.count('eval')]).toEqual([2, 1]);
  });
});

/** A rollout whose tokens stand in the event of what was drawn, the first behind the beginning of the session. */
const drawn = () => {
  const key = { run: 'run', when: 'train', iteration: 1, round: 0, slot: 0, sample: 0 } as const;
  const [tokens, logProbs] = [Int32Array.of(10, 11, 12), Float32Array.of(-0.5, -0.5, -0.5)];
  const generation: JournalEvent = { type: 'generation', ...key, tokens, columns: { logProbs } };
  return [generation, rolloutEvent(played(key), [{ seq: 1, tokens, logProbs }])] as const;
};

test('an episode is read with what was drawn in it and what was learned of it', async () => {
  const sent = { update: 0, weights: 0.5, advantages: [1, 2, 3], logProbs: -1 };
  const learned = learnedEvent(learnedPart({ iteration: 1, advantage: 0.75, sent: [sent] }));
  const { folder } = newFolder(...drawn(), learned);
  const index = await indexOf(folder);
  const read = await index.read(index.find(realId)!);
  expect(read).toMatchObject({
    seq: 2,
    record: { sequences: [{ tokens: [1, 2, 10, 11, 12], logProbs: [0, 0, -0.5, -0.5, -0.5] }] },
    learned: { use: 'trained', advantage: 0.75, sent: [sent] },
  });
});

describe('What was learned of an episode', () => {
  test('is joined by key, and may be missing for the first ones', async () => {
    const episodes = [1, 2, 2].map((iteration, sample) => {
      return { iteration, sample, taskId: 'a' };
    });
    const learned = [
      { use: 'masked', advantage: undefined },
      { use: 'trained', advantage: 0.75 },
    ] as const;
    const events = learned.map((one, at) =>
      learnedEvent(learnedPart({ ...episodes[1 + at]!, ...one })),
    );
    const { folder } = newFolder(...episodes.map(episodeEvent), ...events);
    const rows = (await indexOf(folder)).all().map(({ row }) => row);
    expect(rows).toMatchObject([{}, { use: 'masked', advantage: null }, learned[1]]);
    expect(rows[0]).not.toHaveProperty('use');
  });

  test('is left out where that episode is not recorded', async () => {
    const { folder } = newFolder(real, learnedEvent(learnedPart({ iteration: 1, slot: 7 })));
    const index = await indexOf(folder);
    expect(index.all().map(({ row }) => 'use' in row)).toEqual([false]);
    expect(index.state()).toMatchObject({ unreadableCount: 0 });
  });
});

describe('The index of damaged and hostile records', () => {
  test('counts damaged events with their places, and has the others', async () => {
    const { folder, file } = newFolder(real, second, episodeEvent({ iteration: 2 }));
    const places = [1, 3].map((at) => `${file}: the event at byte ${damageEvent(file, at)}: `);
    const index = await indexOf(folder);
    expect(ids(index)).toEqual([secondId]);
    const { unreadable, unreadableCount } = index.state();
    expect(unreadableCount).toBe(2);
    expect(unreadable).toEqual(places.map((place) => expect.stringContaining(place)));
  });

  test('counts a damaged event once, also where it is read on', async () => {
    const { folder, file } = newFolder(real, second);
    damageEvent(file, 1);
    const index = await indexOf(folder);
    record(folder, episodeEvent({ iteration: 2 }));
    await index.update();
    expect(index.state()).toMatchObject({ unreadableCount: 1 });
  });

  test('counts a rollout of which something that was drawn is missing', async () => {
    const { folder, file } = newFolder(...drawn(), second);
    damageEvent(file, 1);
    const index = await indexOf(folder);
    expect(ids(index)).toEqual([secondId]);
    expect(index.state().unreadable).toEqual([
      expect.stringContaining('its checksum does not match'),
      `event 2, rollout ${realId}: its generation, event 1, is missing`,
    ]);
  });

  test('reads bytes that are not UTF-8, and an episode of 10 MB', async () => {
    const long = [user('y'.repeat(1e7))];
    const { folder, file } = newFolder(episodeEvent({ iteration: 1, messages: long }));
    const broken = episodeEvent({ iteration: 1, when: 'after', messages: [user('@@')] });
    fs.appendFileSync(file, brokenFrame({ seq: 3, ...broken }));
    const [first, last] = (await indexOf(folder)).all();
    expect(first).toMatchObject({ row: { question: 'y'.repeat(120) }, characters: 1e7 });
    expect(last?.row.question).toBe('\uFFFD\uFFFD');
  });
});

describe('a run that goes on', () => {
  test('is read further, and an event that is still being written is left for later', async () => {
    const { folder, file } = newFolder(real);
    const frame = frameOf({ seq: 3, ...second });
    fs.appendFileSync(file, frame.subarray(0, 100));
    const index = await indexOf(folder);
    expect(ids(index)).toEqual([realId]);
    expect(index.state()).toMatchObject({ ready: true, unreadableCount: 0 });
    expect(await index.update()).toBe(false);
    fs.appendFileSync(file, frame.subarray(100));
    expect(await index.update()).toBe(true);
    expect(ids(index)).toEqual([realId, secondId]);
    const neighbours = { previous: realId, next: null };
    expect(index.neighbours(index.find(secondId)!)).toEqual(neighbours);
  });

  test('is read on where its segment grew and was then sealed', async () => {
    const { folder } = newFolder(real);
    const index = await indexOf(folder);
    record(folder, second);
    const damaged = (problem: string) => expect(problem).toBe('');
    const options = { folder: folder.journal, durable: 'process', damaged } as const;
    const writer = await JournalWriter.open(options);
    for (const event of [sessionEvent({ from: 1 }), episodeEvent({ iteration: 2 })])
      writer.write(event);
    await index.update();
    expect(ids(index)).toEqual([realId, secondId, 'train/2/0/0/0']);
    await writer.close();
    await index.update();
    expect(ids(index)).toHaveLength(3);
    expect((await index.read(index.find(secondId)!)).record.taskId).toBe('second');
  });

  test('shows a rollout that was played again once, as it was the last time', async () => {
    const { folder } = newFolder(real, learnedEvent(learnedPart({ iteration: 1, taskId: 'real' })));
    const index = await indexOf(folder);
    addEvents(folder.path, [sessionEvent({ from: 0 }), episodeEvent({ iteration: 1, reward: 1 })]);
    await index.update();
    expect(index.all().map(({ row }) => [row.id, row.reward])).toEqual([[realId, 1]]);
    const { record: read, learned } = await index.read(index.find(realId)!);
    expect([read.reward, learned]).toEqual([1, undefined]);
  });

  test('loses what a session discards that plays it again', async () => {
    const after = episodeEvent({ iteration: 1, when: 'after' });
    const before = episodeEvent({ iteration: 0, when: 'before' });
    const { folder } = newFolder(before, real, after, episodeEvent({ iteration: 2 }));
    const index = await indexOf(folder);
    expect(ids(index)).toHaveLength(4);
    addEvents(folder.path, [sessionEvent({ from: 1, voids: false })]);
    await index.update();
    expect(ids(index)).toHaveLength(4);
    addEvents(folder.path, [sessionEvent({ from: 1, voids: true })]);
    await index.update();
    expect(ids(index)).toEqual([realId, 'before/0/0/0/0']);
    expect(index.find('train/2/0/0/0')).toBeUndefined();
  });

  test('is read again where its journal was replaced by a shorter one', async () => {
    const { folder } = newFolder(real, second);
    const index = await indexOf(folder);
    writeEvents(folder.path, [sessionEvent(), episodeEvent({ iteration: 5 })]);
    expect(await index.update()).toBe(true);
    expect(ids(index)).toEqual(['train/5/0/0/0']);
  });
});

test.each<[string, readonly JournalEvent[] | undefined, string[]]>([
  ['grew', [sessionEvent(), real, ...endsOf([real]), second], [realId, secondId]],
  ['was replaced by another', [sessionEvent(), second, ...endsOf([second])], [secondId]],
  ['was emptied', [], []],
  ['was deleted', undefined, []],
  ['was made shorter', [sessionEvent()], []],
])('the index is right for a journal that %s', async (_, events, expected) => {
  const { folder, file } = newFolder(real);
  const index = await indexOf(folder);
  fs.rmSync(file);
  if (events !== undefined) writeEvents(folder.path, events);
  await index.update();
  expect(ids(index)).toEqual(expected);
});
