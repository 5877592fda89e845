import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { type Span, spanned } from '#agent_rl/core/profile/spans.ts';
import { recordMainThread } from '#agent_rl/telemetry/main-thread-spans.ts';
import { Profile, traceEvents } from '#agent_rl/telemetry/profile.ts';
import { Stopwatch } from '#agent_rl/telemetry/stopwatch.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

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

const sandbox = (name: string, from: number, to: number): Span => ({
  track: 'sandbox',
  name,
  from,
  to,
});

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
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8')) as {
    traceEvents: { name: string; dur: number; args?: { name?: string } }[];
  };
  expect(traceEvents[0]).toMatchObject({ name: 'thread_name', args: { name: 'main thread' } });
  const seconds = traceEvents
    .filter(({ name }) => name === 'JavaScript')
    .reduce((sum, { dur }) => sum + dur / 1e6, 0);
  expect(seconds).toBeGreaterThan(0.19);
  // The looks before and after may be late.
  expect(seconds).toBeLessThan(0.9);
});
