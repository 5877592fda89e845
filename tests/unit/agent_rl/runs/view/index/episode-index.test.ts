import * as fs from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import { EpisodeIndex } from '#agent_rl/runs/view/index/episode-index.ts';
import type { IndexedFile } from '#agent_rl/runs/view/index/index-cache.ts';
import {
  episodeLine,
  learnedText,
  record,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const runs = temporaryFolder();
const ids = (index: EpisodeIndex) => index.all().map(({ row }) => row.id);

let made = 0;
/** A folder with these lines in `train.jsonl`, and the paths of that file and of the cached index. */
const newFolder = (...lines: string[]) => {
  const folder = recordedFolder(runs, `run-${++made}`);
  record(folder, 'train', ...lines);
  const [file, cache] = ['train.jsonl', 'view-index.json'].map((name) =>
    join(folder.trajectories, name),
  ) as [string, string];
  return { folder, file, cache };
};
type Folder = ReturnType<typeof recordedFolder>;
const real = episodeLine({ iteration: 1, taskId: 'real' });
const end = (folder: Folder) => fs.writeFileSync(folder.summary, '{}');

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
      episodeLine({
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
    const { folder } = newFolder(real, episodeLine({ iteration: 1, agent: 'a' }));
    record(folder, 'eval', episodeLine({ iteration: 0, when: 'before' }));
    const names = ['train/1/0/0/0', 'train/1/0/0/0/a', 'before/0/0/0/0'];
    expect(ids(await indexOf(folder))).toEqual(names);
  });
});

describe('The learned record', () => {
  test('is joined by key, and may be missing for the first ones', async () => {
    const lines = [1, 2, 2].map((iteration, sample) =>
      episodeLine({ iteration, taskId: 'a', sample }),
    );
    const { folder } = newFolder(...lines);
    const learned = [
      { use: 'masked', advantage: null },
      { use: 'trained', advantage: 0.75 },
    ];
    const texts = learned.map((one, at) =>
      learnedText({ iteration: 2, taskId: 'a', sample: 1 + at, ...one }),
    );
    record(folder, 'learned', ...texts);
    const rows = (await indexOf(folder)).all().map(({ row }) => row);
    expect(rows).toMatchObject([{}, ...learned]);
    expect(rows[0]).not.toHaveProperty('use');
  });

  test('is refused and counted where it belongs to another episode', async () => {
    const { folder } = newFolder(real);
    record(folder, 'learned', learnedText({ iteration: 1, taskId: 'b', sample: 0 }));
    const index = await indexOf(folder);
    expect(index.all()[0]?.row).not.toHaveProperty('use');
    expect(index.state()).toMatchObject({ unreadableCount: 1 });
  });
});

describe('The index of hostile records', () => {
  test('counts invalid lines with their places, and has the others', async () => {
    const bad = ['no json\n', '{"taskId":1}\n', '[]\n', '{"taskId":"x"}\n'];
    const { folder } = newFolder(...bad, real);
    const index = await indexOf(folder);
    expect(ids(index)).toEqual(['train/1/0/0/0']);
    const { unreadable, unreadableCount } = index.state();
    expect(unreadableCount).toBe(4);
    expect(unreadable[1]).toMatch(/train\.jsonl:2: it is not an episode$/);
    expect(index.find('train/1/0/0/0')).toMatchObject({ line: 4 });
  });

  test('reads bytes that are not UTF-8, and a line of 10 MB', async () => {
    const long = episodeLine({ iteration: 1, taskId: 'long', messages: [user('y'.repeat(1e7))] });
    const { folder } = newFolder(long);
    const messages = [user('@@')];
    const line = Buffer.from(episodeLine({ iteration: 1, when: 'after', messages }));
    line.set([0xff, 0xc3], line.indexOf('@@'));
    fs.writeFileSync(join(folder.trajectories, 'eval.jsonl'), line);
    const [first, second] = (await indexOf(folder)).all();
    expect(first).toMatchObject({ row: { question: 'y'.repeat(120) }, bytes: long.length - 1 });
    expect(second?.row.question).toBe('\uFFFD\uFFFD');
  });
});

describe('a run that goes on', () => {
  test('is read further, and a line that is still being written is left for later', async () => {
    const two = episodeLine({ iteration: 1, slot: 1 });
    const { folder } = newFolder(real, two.slice(0, 100));
    const index = await indexOf(folder);
    expect(ids(index)).toEqual(['train/1/0/0/0']);
    expect(await index.update()).toBe(false);
    record(folder, 'train', two.slice(100));
    expect(await index.update()).toBe(true);
    expect(ids(index)).toEqual(['train/1/0/0/0', 'train/1/0/1/0']);
    const neighbours = { previous: 'train/1/0/0/0', next: null };
    expect(index.neighbours(index.find('train/1/0/1/0')!)).toEqual(neighbours);
  });

  test('has all of an iteration that was written between two of its files', async () => {
    const { folder } = newFolder();
    const writeIteration = (iteration: number) => {
      record(folder, 'train', episodeLine({ iteration, taskId: 'a' }));
      record(folder, 'learned', learnedText({ iteration, taskId: 'a', sample: 0 }));
    };
    let written = 1;
    class Overtaken extends EpisodeIndex {
      override fileOf(file: IndexedFile): string {
        // After train.jsonl and before learned.jsonl.
        if (file === 'eval' && this.count('train') > 0 && written === 1) writeIteration(++written);
        return super.fileOf(file);
      }
    }
    writeIteration(1);
    const index = new Overtaken(folder);
    await index.update();
    expect({ written, rows: ids(index) }).toEqual({ written: 2, rows: ['train/1/0/0/0'] });
    await index.update();
    expect(index.all().map(({ row }) => row.use)).toEqual(['trained', 'trained']);
    expect(index.state()).toMatchObject({ ready: true, unreadableCount: 0 });
  });

  test('is read again when a resume cut its files, also when they are longer again', async () => {
    const cut = episodeLine({ iteration: 2, taskId: 'cut', messages: [user('x'.repeat(99))] });
    const { folder, file } = newFolder(real, cut);
    const index = await indexOf(folder);
    fs.truncateSync(file, real.length);
    const others = [5, 6].map((slot) => episodeLine({ iteration: 2, slot, taskId: 'other' }));
    record(folder, 'train', ...others);
    await index.update();
    expect(ids(index)).toEqual(['train/1/0/0/0', 'train/2/0/5/0', 'train/2/0/6/0']);
  });
});

describe('the index beside the records', () => {
  test('is written when a run has ended, and is what the next viewer begins with', async () => {
    const { folder, cache } = newFolder(real);
    await indexOf(folder);
    expect(fs.existsSync(cache)).toBe(false);
    end(folder);
    await indexOf(folder);
    // So that one sees where the rows come from.
    const marked = fs.readFileSync(cache, 'utf8').replaceAll('"completed"', '"cached"');
    fs.writeFileSync(cache, marked);
    const [only] = (await indexOf(folder)).all();
    expect(only?.row.outcome).toBe('cached');
  });

  test.each([
    ['grown', real + episodeLine({ iteration: 1, slot: 1, taskId: 'next' }), 2],
    ['emptied', '', 0],
    ['deleted', undefined, 0],
    ['changed within its length', real.replace('"real"', '"fake"'), 1],
  ])('is ignored for a file that was %s', async (_, text, episodes) => {
    const { folder, file, cache } = newFolder(real);
    end(folder);
    await indexOf(folder);
    fs.rmSync(file);
    if (text !== undefined) writeBelow(folder.trajectories, 'train.jsonl', text);
    if (episodes === 1) fs.utimesSync(file, 1, 1);
    const index = await indexOf(folder);
    expect(index.all()).toHaveLength(episodes);
    const now = fs.readFileSync(cache, 'utf8');
    for (const { row } of index.all()) expect(now).toContain(JSON.stringify(row.taskId));
  });

  test.each(['', '{"schema":1', '{"schema":99}', 'null'])('is made anew for %j', async (text) => {
    const { folder, cache } = newFolder(real);
    fs.writeFileSync(cache, text);
    expect(ids(await indexOf(folder))).toEqual(['train/1/0/0/0']);
  });

  test('is reported once where it cannot be written', async () => {
    const { folder, cache } = newFolder(real);
    end(folder);
    fs.mkdirSync(join(cache, 'in the way'), { recursive: true });
    const told: string[] = [];
    const index = new EpisodeIndex(folder, (text) => told.push(text));
    await index.update();
    record(folder, 'train', episodeLine({ iteration: 1, slot: 1, taskId: 'more' }));
    await index.update();
    expect(ids(index)).toHaveLength(2);
    expect(told).toEqual([expect.stringMatching(/^The index of .* cannot be saved/)]);
  });
});
