import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const runs = temporaryFolder();
const ids = (index: EpisodeIndex) => index.all().map(({ row }) => row.id);

let made = 0;
const newFolder = () => recordedFolder(runs, `run-${++made}`);
const cacheOf = (folder: ReturnType<typeof newFolder>) =>
  join(folder.trajectories, 'view-index.json');
const end = (folder: ReturnType<typeof newFolder>) => writeFileSync(folder.summary, '{}');

async function indexOf(folder: ReturnType<typeof newFolder>): Promise<EpisodeIndex> {
  const index = new EpisodeIndex(folder);
  await index.update();
  return index;
}

describe('A row of the index', () => {
  test('has the facts of an episode', async () => {
    const folder = newFolder();
    const call = { id: 'call_0_0', name: 'add', arguments: {} };
    const failing = { call, status: 'error' as const, result: { content: 'no' }, wallMs: 1 };
    record(
      folder,
      'train',
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
    expect(only?.row).toEqual({
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
    const folder = newFolder();
    record(
      folder,
      'train',
      episodeLine({ iteration: 1 }),
      episodeLine({ iteration: 1, agent: 'a' }),
    );
    record(folder, 'eval', episodeLine({ iteration: 0, when: 'before' }));
    expect(ids(await indexOf(folder))).toEqual([
      'train/1/0/0/0',
      'train/1/0/0/0/a',
      'before/0/0/0/0',
    ]);
  });

  test('leaves learning out where it was not recorded, instead of 0', async () => {
    const folder = newFolder();
    record(folder, 'train', episodeLine({ iteration: 1, taskId: 'a' }));
    const [only] = (await indexOf(folder)).all();
    expect(only?.row).not.toHaveProperty('advantage');
    expect(only?.row).not.toHaveProperty('use');
  });
});

describe('The learned record', () => {
  test('is joined by key, and may be missing for the first ones', async () => {
    const folder = newFolder();
    const episodes = [1, 2, 2].map((iteration, sample) => ({ iteration, taskId: 'a', sample }));
    record(folder, 'train', ...episodes.map((one) => episodeLine(one)));
    record(
      folder,
      'learned',
      learnedText({ iteration: 2, taskId: 'a', sample: 1, use: 'masked', advantage: null }),
      learnedText({ iteration: 2, taskId: 'a', sample: 2, advantage: 0.75 }),
    );
    const rows = (await indexOf(folder)).all().map(({ row }) => [row.use, row.advantage]);
    expect(rows).toEqual([
      [undefined, undefined],
      ['masked', null],
      ['trained', 0.75],
    ]);
  });

  test('is refused and counted where it belongs to another episode', async () => {
    const folder = newFolder();
    record(folder, 'train', episodeLine({ iteration: 1, taskId: 'a' }));
    record(folder, 'learned', learnedText({ iteration: 1, taskId: 'b', sample: 0 }));
    const index = await indexOf(folder);
    expect(index.all()[0]?.row).not.toHaveProperty('use');
    expect(index.state()).toMatchObject({ unreadableCount: 1 });
  });
});

describe('The index of hostile records', () => {
  test('counts invalid lines with their places, and has the others', async () => {
    const folder = newFolder();
    const good = episodeLine({ iteration: 1, taskId: 'good' });
    record(folder, 'train', 'no json\n', '{"taskId":1}\n', '[]\n', '{"taskId":"x"}\n', good);
    const index = await indexOf(folder);
    expect(ids(index)).toEqual(['train/1/0/0/0']);
    const { unreadable, unreadableCount } = index.state();
    expect(unreadableCount).toBe(4);
    expect(unreadable[1]).toMatch(/train\.jsonl:2: it is not an episode$/);
    expect(index.find('train/1/0/0/0')).toMatchObject({ line: 4 });
  });

  test('reads bytes that are not UTF-8, and a line of 10 MB', async () => {
    const folder = newFolder();
    const long = episodeLine({ iteration: 1, taskId: 'long', messages: [user('y'.repeat(1e7))] });
    record(folder, 'train', long);
    const line = Buffer.from(
      episodeLine({ iteration: 1, when: 'after', taskId: 'bytes', messages: [user('@@')] }),
    );
    const at = line.indexOf('@@');
    line[at] = 0xff;
    line[at + 1] = 0xc3;
    writeFileSync(join(folder.trajectories, 'eval.jsonl'), line);
    const [first, second] = (await indexOf(folder)).all();
    expect(first).toMatchObject({ row: { question: 'y'.repeat(120) }, bytes: long.length - 1 });
    expect(second?.row.question).toBe('\uFFFD\uFFFD');
  });
});

describe('a run that goes on', () => {
  test('is read further, and a line that is still being written is left for later', async () => {
    const folder = newFolder();
    const [one, two] = [0, 1].map((slot) => episodeLine({ iteration: 1, slot }));
    record(folder, 'train', one!, two!.slice(0, 100));
    const index = await indexOf(folder);
    expect(ids(index)).toEqual(['train/1/0/0/0']);
    expect(await index.update()).toBe(false);
    record(folder, 'train', two!.slice(100));
    expect(await index.update()).toBe(true);
    expect(ids(index)).toEqual(['train/1/0/0/0', 'train/1/0/1/0']);
    expect(index.neighbours(index.find('train/1/0/1/0')!)).toEqual({
      previous: 'train/1/0/0/0',
      next: null,
    });
  });

  test('has all of an iteration that was written between two of its files', async () => {
    const folder = newFolder();
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
    const folder = newFolder();
    const file = join(folder.trajectories, 'train.jsonl');
    const first = episodeLine({ iteration: 1, taskId: 'first' });
    record(
      folder,
      'train',
      first,
      episodeLine({ iteration: 2, taskId: 'cut', messages: [user('x'.repeat(99))] }),
    );
    const index = await indexOf(folder);
    truncateSync(file, first.length);
    const others = [5, 6].map((slot) => episodeLine({ iteration: 2, slot, taskId: 'other' }));
    record(folder, 'train', ...others);
    await index.update();
    expect(ids(index)).toEqual(['train/1/0/0/0', 'train/2/0/5/0', 'train/2/0/6/0']);
  });
});

describe('the index beside the records', () => {
  test('is what the next viewer begins with', async () => {
    const folder = newFolder();
    record(folder, 'train', episodeLine({ iteration: 1, taskId: 'real' }));
    end(folder);
    await indexOf(folder);
    // So that one sees where the rows come from.
    const marked = readFileSync(cacheOf(folder), 'utf8').replaceAll(
      '"outcome":"completed"',
      '"outcome":"cached"',
    );
    writeFileSync(cacheOf(folder), marked);
    const [only] = (await indexOf(folder)).all();
    expect(only?.row.outcome).toBe('cached');
  });

  test.each([
    ['grown', (file: string, line: string) => writeFileSync(file, line, { flag: 'a' }), 2],
    ['emptied', (file: string) => truncateSync(file, 0), 0],
    ['deleted', (file: string) => rmSync(file), 0],
    [
      'changed within its length',
      (file: string) => {
        writeFileSync(file, readFileSync(file, 'utf8').replace('"real"', '"fake"'));
        utimesSync(file, 1, 1);
      },
      1,
    ],
  ])('is ignored for a file that was %s', async (_, change, episodes) => {
    const folder = newFolder();
    const line = episodeLine({ iteration: 1, taskId: 'real' });
    record(folder, 'train', line);
    end(folder);
    await indexOf(folder);
    change(
      join(folder.trajectories, 'train.jsonl'),
      line.replace('"real"', '"next"').replace('"slot":0', '"slot":1'),
    );
    const index = await indexOf(folder);
    expect(index.all()).toHaveLength(episodes);
    const now = readFileSync(cacheOf(folder), 'utf8');
    for (const { row } of index.all()) expect(now).toContain(JSON.stringify(row.taskId));
  });

  test.each(['', '{"schema":1', '{"schema":99}', 'null'])(
    'is made anew where it holds %j',
    async (text) => {
      const folder = newFolder();
      record(folder, 'train', episodeLine({ iteration: 1, taskId: 'real' }));
      writeFileSync(cacheOf(folder), text);
      expect(ids(await indexOf(folder))).toEqual(['train/1/0/0/0']);
    },
  );

  test('is reported once where it cannot be written', async () => {
    const folder = newFolder();
    record(folder, 'train', episodeLine({ iteration: 1, taskId: 'real' }));
    end(folder);
    mkdirSync(join(cacheOf(folder), 'in the way'), { recursive: true });
    const told: string[] = [];
    const index = new EpisodeIndex(folder, (text) => told.push(text));
    await index.update();
    record(folder, 'train', episodeLine({ iteration: 1, slot: 1, taskId: 'more' }));
    await index.update();
    expect(ids(index)).toHaveLength(2);
    expect(told).toEqual([expect.stringMatching(/^The index of .* cannot be saved/)]);
  });

  test('waits until a run has ended, or has much more', async () => {
    const folder = newFolder();
    record(folder, 'train', episodeLine({ iteration: 1, taskId: 'real' }));
    await indexOf(folder);
    expect(existsSync(cacheOf(folder))).toBe(false);
  });
});
