import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, jest, test } from '@jest/globals';

import { type Span, spanned } from '#agent_rl/core/profile/spans.ts';
import { bytesText, countText, pointsText } from '#agent_rl/telemetry/figures.ts';
import {
  createProgress,
  durationText,
  ProcessTreeMemory,
  processTreeUsage,
  Stopwatch,
  withProgress,
} from '#agent_rl/telemetry/index.ts';
import { recordMainThread } from '#agent_rl/telemetry/main-thread-spans.ts';
import { linuxRow, parsePs, sumTree } from '#agent_rl/telemetry/process-tree.ts';
import { Profile, traceEvents } from '#agent_rl/telemetry/profile.ts';
import type { ProgressOptions } from '#agent_rl/telemetry/progress.ts';
import { EmulatedTerminal } from '#tests/support/emulated-terminal.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

/** A clock that stands still until a test moves it. */
const fakeClock = () => {
  let now = 0;
  return { clock: () => now, wait: (ms: number) => void (now += ms) };
};

describe('Stopwatch', () => {
  test('adds up seconds by activity, also of what throws', async () => {
    const { clock, wait } = fakeClock();
    const watch = new Stopwatch(['update', 'scoring'], { clock });
    await watch.time('update', () => wait(1500));
    const failing = watch.time('update', () => {
      wait(500);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    wait(1000);
    expect(watch.seconds).toEqual({ update: 2, scoring: 0 });
    expect(watch.total).toBe(3);
  });
});

describe('The memory of the process tree', () => {
  const row = (pid: number, parent: number, rssBytes: number) => {
    return { pid, parent, rssBytes, cpuSeconds: 1 };
  };

  test('counts a process and its descendants and no other', () => {
    // 1 -> 2 -> 3, 1 -> 4; 9 is a stranger.
    const rows = [row(1, 0, 10), row(2, 1, 20), row(3, 2, 40), row(4, 1, 80), row(9, 0, 160)];
    expect(sumTree(rows, 1)).toEqual({ rssBytes: 150, cpuSeconds: 4 });
    expect(sumTree(rows, 2)).toEqual({ rssBytes: 60, cpuSeconds: 2 });
    expect(sumTree(rows, 7)).toBeUndefined();
  });

  test('is read from ps where there is no /proc', () => {
    // 12 KiB; 1 h 2 min 3.5 s is 3723.5 s; 1 day 1 s is 86401 s.
    const output = '  10     1   12 01:02:03.50\n  11    10    8 1-00:00:01\n';
    expect(parsePs(output)).toEqual([
      { pid: 10, parent: 1, rssBytes: 12288, cpuSeconds: 3723.5 },
      { pid: 11, parent: 10, rssBytes: 8192, cpuSeconds: 86401 },
    ]);
  });

  test('is, for this process, at least what Node reports', async () => {
    const { rssBytes, cpuSeconds } = await processTreeUsage();
    expect(rssBytes).toBeGreaterThan(0.5 * process.memoryUsage.rss());
    expect(cpuSeconds).toBeGreaterThan(0);
  });

  test('has a peak', async () => {
    const samples = [10, 70, 30];
    const memory = new ProcessTreeMemory(async () => ({
      rssBytes: samples.shift() ?? 0,
      cpuSeconds: 0,
      scope: 'process-tree',
    }));
    await memory.sample();
    await memory.sample();
    expect(await memory.stop()).toEqual({ peakRssBytes: 70, scope: 'process-tree' });
  });

  test('is watched until halted, and not read again', async () => {
    jest.useFakeTimers();
    let samples = 0;
    const memory = new ProcessTreeMemory(() => Promise.reject(new Error(`${(samples += 1)}`)));
    memory.start(10);
    memory.halt();
    await jest.advanceTimersByTimeAsync(100).finally(() => jest.useRealTimers());
    expect(samples).toBe(1);
  });

  test('is an error when the watch ends, not a low peak, where it cannot be read', async () => {
    const memory = new ProcessTreeMemory(() => Promise.reject(new Error('no ps')));
    memory.start(1e6);
    await expect(memory.stop()).rejects.toThrow('no ps');
  });
});

describe('Progress', () => {
  const piped = () => {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    return { written, stream: { write } as unknown as NonNullable<ProgressOptions['stream']> };
  };

  test('is plain lines with the time left where there is no terminal', () => {
    const { clock, wait } = fakeClock();
    const { written, stream } = piped();
    const progress = createProgress({ label: 'train', total: 4, stream, clock });
    wait(30_000);
    // 30 s for 1 of 4 leaves 90 s.
    progress.update(1, { reward: 0.4123, success: 0.38, toolCallRate: 0.9, tokensPerSecond: 1840 });
    progress.stop();
    expect(written).toEqual([
      'train 1/4  left 1 min 30 s  reward 0.41  success 38 %  calls 90 %  1840 tok/s\n',
    ]);
  });

  test('is taken down when what it shows fails', async () => {
    const terminal = new EmulatedTerminal();
    const display = { stream: terminal, environment: {} };
    const stopped = withProgress({ label: 'eval', total: 2, ...display }, async () => {
      expect(await terminal.linesShown()).toEqual([expect.stringMatching(/^eval {2}\[░+] 0\/2 /)]);
      throw new Error('no engine');
    });
    await expect(stopped).rejects.toThrow('no engine');
    expect(await terminal.linesShown()).toEqual([]);
  });

  test('is a panel on a terminal, on one line where that is narrow', async () => {
    const { clock, wait } = fakeClock();
    const terminal = new EmulatedTerminal({ columns: 61 });
    const display = { stream: terminal, environment: {}, clock };
    const progress = createProgress({ label: 'sft', total: 8, from: 2, ...display });
    expect(await terminal.linesShown()).toEqual([
      // 30 columns at most; 2 of 8 are 7.5 of them.
      'sft  [████████░░░░░░░░░░░░░░░░░░░░░░] 2/8  left unknown',
    ]);
    wait(10_000);
    progress.update(4, { tokensPerSecond: 1840 });
    // 10 s for 2 leave 20 s for 4, of which 5 have passed.
    wait(5000);
    await terminal.resize(60);
    expect(await terminal.linesShown()).toEqual([
      'sft  [███████████████░░░░░░░░░░░░░░░] 4/8  left 15 s',
      '1840 tok/s',
    ]);
    await terminal.resize(30);
    expect(await terminal.linesShown()).toEqual(['sft [████░░░] 4/8 left 15 s …']);
    progress.stop();
    expect(await terminal.linesShown()).toEqual([]);
  });

  test('is a line for every few steps and for the last, and nothing with quiet', () => {
    const { written, stream } = piped();
    const given = { label: 'eval', total: 5, lineEvery: 2, stream, clock: () => 0 };
    for (const quiet of [false, true]) {
      const progress = createProgress({ ...given, quiet });
      for (let done = 1; done <= 5; done++) progress.update(done);
      progress.stop();
    }
    expect(written.map((line) => line.slice(0, 8))).toEqual(['eval 2/5', 'eval 4/5', 'eval 5/5']);
  });

  test('writes times with their largest two units', () => {
    const texts = [0, 59.6, 200, 3720].map(durationText);
    expect(texts).toEqual(['0 s', '1 min 00 s', '3 min 20 s', '1 h 02 min']);
  });
});

test('a process that ended or belongs to others is skipped, and any other error fails', () => {
  const reading = (code: string) =>
    linuxRow('4711', () => {
      throw Object.assign(new Error(code), { code });
    });
  for (const code of ['EACCES', 'EPERM', 'ENOENT', 'ESRCH']) expect(reading(code)).toEqual([]);
  expect(() => reading('EMFILE')).toThrow('EMFILE');
});

test('a count, a size and a difference of shares are written with their units and sign', () => {
  const counts = [0, 1, 12_000].map((amount) => countText(amount, 'call'));
  expect(counts).toEqual(['0 calls', '1 call', '12,000 calls']);
  const sizes = [0, 1023, 1536, 5 * 2 ** 30].map(bytesText);
  expect(sizes).toEqual(['0 B', '1023 B', '1.5 KiB', '5.0 GiB']);
  expect([0.71, -0.046, 0].map(pointsText)).toEqual(['+71.0', '-4.6', '0.0']);
});

const folder = temporaryFolder();

interface Shown {
  name: string;
  tid: number;
  ts?: number;
  dur?: number;
}

const rowsOf = (spans: readonly Span[]): { titles: string[]; rows: [string, number][] } => {
  const events = traceEvents(spans) as (Shown & { ph: string; args: { name: string } })[];
  return {
    titles: events.filter(({ name }) => name === 'thread_name').map(({ args }) => args.name),
    rows: events.filter(({ ph }) => ph === 'X').map(({ name, tid }) => [name, tid]),
  };
};

const sandbox = (name: string, from: number, to: number): Span => {
  return { track: 'sandbox', name, from, to };
};

test('spans that overlap are in different rows, and spans that follow in the same', () => {
  const { titles, rows } = rowsOf([sandbox('a', 0, 10), sandbox('b', 5, 15), sandbox('c', 10, 20)]);
  expect(titles).toEqual(['sandbox', 'sandbox, 2']);
  expect(rows.map((row) => row.join(' '))).toEqual(['a 1', 'b 2', 'c 1']);
});

test('a group has one row from its first span to its last', () => {
  const spans = [
    { ...sandbox('generation', 0, 2), group: 'one' },
    // In the gap of the first, which is not free.
    { ...sandbox('generation', 3, 4), group: 'two' },
    { ...sandbox('tools', 6, 8), group: 'one' },
    { ...sandbox('generation', 8, 9), group: 'three' },
  ];
  const rows = rowsOf(spans).rows.map((row) => row.join(' '));
  expect(rows).toEqual(['generation 1', 'generation 2', 'tools 1', 'generation 1']);
});

test('a profile that is full says how many spans it leaves out', async () => {
  const profile = Profile.start(2);
  for (const name of ['one', 'two', 'three'])
    await spanned({ track: 'trainer', name }, () => Promise.resolve());
  expect(await profile.write(join(folder, 'full.json'))).toEqual({ written: 2, left: 1 });
  profile.close();
});

test('tracks are in the order of their names, times are microseconds since the first', () => {
  const spans: Span[] = [
    { track: 'trainer', name: 'update', from: 1000.5, to: 1002 },
    { track: 'engine thread 1', name: 'step', from: 1000, to: 1000.25 },
  ];
  expect(rowsOf(spans).titles).toEqual(['engine thread 1', 'trainer']);
  const [update, step] = (traceEvents(spans) as Shown[]).filter(({ ts }) => ts !== undefined);
  expect([update!.ts, update!.dur, step!.ts, step!.dur]).toEqual([500, 1500, 0, 250]);
});

test('spans are recorded between the start of a profile and its end, also spans that fail', async () => {
  const file = join(folder, 'profile.json');
  const action = (name: string) => spanned({ track: 'trainer', name }, async () => name);
  expect(await action('before')).toBe('before');
  const profile = Profile.start();
  await action('during');
  const failing = { track: 'trainer', name: 'failing' };
  await expect(spanned(failing, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await new Stopwatch(['collect'], { shown: { track: 'trainer' } }).time('collect', () => 1);
  expect(await profile.write(file)).toEqual({ written: 3, left: 0 });
  profile.close();
  await action('after');
  const written = JSON.parse(readFileSync(file, 'utf8')) as { traceEvents: Shown[] };
  const names = written.traceEvents.flatMap(({ ts, name }) => (ts === undefined ? [] : [name]));
  expect(names).toEqual(['during', 'failing', 'collect']);
});

const file = join(temporaryFolder(), 'profile.json');

test('the profile has the time in which JavaScript keeps the main thread, without waiting', async () => {
  const profile = Profile.start();
  const stop = recordMainThread();
  await setTimeout(50);
  const until = performance.now() + 200;
  while (performance.now() < until);
  await setTimeout(1000);
  stop();
  stop();
  await profile.write(file);
  profile.close();
  const { traceEvents: written } = JSON.parse(readFileSync(file, 'utf8')) as {
    traceEvents: { name: string; dur: number; args?: { name?: string } }[];
  };
  expect(written[0]).toMatchObject({ name: 'thread_name', args: { name: 'main thread' } });
  const seconds = written
    .filter(({ name }) => name === 'JavaScript')
    .reduce((sum, { dur }) => sum + dur / 1e6, 0);
  expect(seconds).toBeGreaterThan(0.19);
  // The looks before and after may be late.
  expect(seconds).toBeLessThan(0.9);
});
