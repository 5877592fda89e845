import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { type Span, spanned } from '#agent_rl/core/profile/spans.ts';
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

test('spans that overlap are in different rows, and spans that follow in the same', () => {
  const span = (name: string, from: number, to: number): Span => ({
    track: 'sandbox',
    name,
    from,
    to,
  });
  expect(rowsOf([span('a', 0, 10), span('b', 5, 15), span('c', 10, 20)])).toEqual({
    titles: ['sandbox', 'sandbox, 2'],
    rows: [
      ['a', 1],
      ['b', 2],
      ['c', 1],
    ],
  });
});

test('a group has one row from its first span to its last', () => {
  const span = (group: string, name: string, from: number, to: number): Span => ({
    track: 'episodes',
    group,
    name,
    from,
    to,
  });
  const spans = [
    span('one', 'generation', 0, 2),
    // In the gap of the first, which is not free.
    span('two', 'generation', 3, 4),
    span('one', 'tools', 6, 8),
    span('three', 'generation', 8, 9),
  ];
  expect(rowsOf(spans).rows).toEqual([
    ['generation', 1],
    ['generation', 2],
    ['tools', 1],
    ['generation', 1],
  ]);
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
  const fails = spanned({ track: 'trainer', name: 'failing' }, () =>
    Promise.reject(new Error('no')),
  );
  await expect(fails).rejects.toThrow('no');
  await new Stopwatch(['collect'], { shown: { track: 'trainer' } }).time('collect', () => 1);
  expect(await profile.write(file)).toEqual({ written: 3, left: 0 });
  profile.close();
  await action('after');
  const { traceEvents: written } = JSON.parse(readFileSync(file, 'utf8')) as {
    traceEvents: Shown[];
  };
  expect(written.filter(({ ts }) => ts !== undefined).map(({ name }) => name)).toEqual([
    'during',
    'failing',
    'collect',
  ]);
});
