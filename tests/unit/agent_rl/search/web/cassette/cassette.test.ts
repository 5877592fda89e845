import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { Cassette } from '#agent_rl/search/web/cassette/cassette.ts';
import { canonicalJson } from '#agent_rl/core/services/canonical-json.ts';
import { requestKey } from '#agent_rl/search/web/cassette/cassette-file.ts';
import { hideSecrets } from '#agent_rl/telemetry/redact.ts';
import { WebFailure } from '#agent_rl/search/web/web-failure.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
let files = 0;
const newPath = (): string => join(folder, 'deeper', `cassette-${files++}.jsonl`);

const hour = 3_600_000;
const hide = (text: string): string => text.replaceAll('s3cret', '[redacted]');
const common = { scope: 'search', hide, isAnswer: (value: unknown) => value !== null };
const opened = (path: string, mode: 'record' | 'replay', more: object = {}): Cassette =>
  new Cassette({ ...common, mode, path, ...more });

const ask = (query: string, call = 'a') => ({ request: { query }, call });
const noNetwork = () => Promise.reject(new Error('The network was touched.'));
const failing =
  (...why: ConstructorParameters<typeof WebFailure>) =>
  () =>
    Promise.reject(new WebFailure(...why));

describe('The key of a request', () => {
  test('does not depend on the order of its parts', () => {
    const text = canonicalJson({ b: [1, { d: 1, c: undefined }], a: 'x' });
    expect(text).toBe('{"a":"x","b":[1,{"d":1}]}');
    expect(requestKey({ a: 1, b: 2 })).toBe(requestKey({ b: 2, a: 1 }));
    expect(requestKey({ a: 1 })).not.toBe(requestKey({ a: '1' }));
  });
});

describe('A recording', () => {
  test('sends an equal request once, also when it is made several times at once', async () => {
    const cassette = opened(newPath(), 'record');
    let asked = 0;
    const live = async (): Promise<unknown> => ({ n: (asked += 1) });
    const calls = ['a', 'b'].map((call) => cassette.answer(ask('q', call), live));
    const together = await Promise.all(calls);
    const answers = [...together, await cassette.answer(ask('q', 'c'), live)];
    expect(answers).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(cassette.counts).toEqual({ calls: 3, hits: 2 });
  });

  test('writes no secret of the request or the answer', async () => {
    const path = newPath();
    const cassette = opened(path, 'record');
    const answer = await cassette.answer(ask('s3cret'), async () => ['my s3cret']);
    expect(answer).toEqual(['my [redacted]']);
    expect(readFileSync(path, 'utf8')).not.toContain('s3cret');
  });

  test('stays valid when a secret looks like a part of JSON', async () => {
    const path = newPath();
    const secrets = { hide: hideSecrets(['status', '123456', '2']) };
    const recorded = { status: 1234567, text: 'v2 of 123456' };
    const answer = await opened(path, 'record', secrets).answer(ask('q'), async () => recorded);
    expect(answer).toEqual({ status: 1234567, text: 'v2 of [redacted]' });
    expect(await opened(path, 'replay').answer(ask('q'), noNetwork)).toEqual(answer);
  });

  test('requests an answer older than its time to live again', async () => {
    const path = newPath();
    const at = (hours: number) => ({ ttlHours: 2, now: () => hours * hour });
    await opened(path, 'record', at(0)).answer(ask('q'), async () => 'old');
    expect(await opened(path, 'record', at(2)).answer(ask('q'), noNetwork)).toBe('old');
    expect(await opened(path, 'record', at(3)).answer(ask('q'), async () => 'new')).toBe('new');
    // A replay serves the last answer, whatever its age.
    expect(await opened(path, 'replay', at(99)).answer(ask('q'), noNetwork)).toBe('new');
  });

  test('requests a failed answer again', async () => {
    const path = newPath();
    const cassette = opened(path, 'record');
    await rejectionOf(cassette.answer(ask('q'), failing('timeout', 'no answer within 1 s')));
    expect(await cassette.answer(ask('q'), async () => 'now')).toBe('now');
  });
});

describe('A replay', () => {
  test('gives every call its recorded outcome, failures included, without the network', async () => {
    const path = newPath();
    const recording = opened(path, 'record');
    await rejectionOf(recording.answer(ask('q', 'first'), failing('rate-limited', 'answers 429')));
    await recording.answer(ask('q', 'second'), async () => 'found');
    await recording.answer(ask('q', 'first'), noNetwork);

    const replay = opened(path, 'replay');
    const failure = await rejectionOf(replay.answer(ask('q', 'first'), noNetwork));
    expect(failure).toMatchObject({ kind: 'rate-limited', message: 'answers 429' });
    expect(await replay.answer(ask('q', 'second'), noNetwork)).toBe('found');
    expect(await replay.answer(ask('q', 'first'), noNetwork)).toBe('found');
    expect(replay.counts).toEqual({ calls: 3, hits: 3 });
  });

  test('gives a run recorded in two sessions the failures of both', async () => {
    const path = newPath();
    const first = opened(path, 'record');
    await rejectionOf(first.answer(ask('one', 'a'), failing('network', 'first')));
    await rejectionOf(first.answer(ask('two', 'a'), failing('network', 'first')));
    // The second session goes on with other calls, and makes one of the first again.
    const second = opened(path, 'record');
    await rejectionOf(second.answer(ask('one', 'b'), failing('network', 'second')));
    await second.answer(ask('two', 'a'), async () => 'found');
    const replay = opened(path, 'replay');
    const a = await rejectionOf(replay.answer(ask('one', 'a'), noNetwork));
    const b = await rejectionOf(replay.answer(ask('one', 'b'), noNetwork));
    expect([a.message, b.message]).toEqual(['first', 'second']);
    expect(await replay.answer(ask('two', 'a'), noNetwork)).toBe('found');
  });

  test('names a request that was never recorded', async () => {
    const path = newPath();
    await opened(path, 'record').answer(ask('q'), async () => 1);
    const missing = await rejectionOf(opened(path, 'replay').answer(ask('other'), noNetwork));
    expect(missing).toMatchObject(errorOf('CASSETTE_MISS', '{"query":"other"}'));
  });

  test('fails at the start when its file does not exist', () => {
    expect(thrownBy(() => opened(newPath(), 'replay')).code).toBe('CASSETTE_MISS');
  });

  test('ignores what another tool recorded in the same file', async () => {
    const path = newPath();
    await opened(path, 'record').answer(ask('q'), async () => 1);
    const other = () => opened(path, 'replay', { scope: 'open_page' });
    expect(thrownBy(other).code).toBe('CASSETTE_MISS');
  });
});

describe('A cassette', () => {
  test('drops a torn last line, as after a crash', async () => {
    const path = newPath();
    const recording = opened(path, 'record');
    await recording.answer(ask('q'), async () => 'ä');
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, `${whole}{"scope":"search","ke`);
    await opened(path, 'record').answer(ask('r'), async () => 2);
    const replay = opened(path, 'replay');
    expect(await replay.answer(ask('q'), noNetwork)).toBe('ä');
    expect(await replay.answer(ask('r'), noNetwork)).toBe(2);
  });

  const late = { failure: { kind: 'late', message: '' } };
  const timeout = { failure: { kind: 'timeout', message: '' } };

  test.each<[string, object, string]>([
    ['an answer of another shape', { answer: null }, '"answer" is'],
    ['another request', { request: { query: 'r' } }, '"key" does not match'],
    ['no time', { at: 'yesterday' }, '"at" is not a time'],
    ['a kind of failure', { ...late, call: 'a', repeat: 0 }, 'it/failure/kind must be'],
    ['a failure without a call', timeout, 'must have required properties call, repeat'],
  ])('is refused with the line number after an edit to %s', async (_name, edit, problem) => {
    const path = newPath();
    await opened(path, 'record').answer(ask('q'), async () => 1);
    const [start = '', line = ''] = readFileSync(path, 'utf8').split('\n');
    const edited = { ...(JSON.parse(line) as object), ...edit };
    writeFileSync(path, `${start}\n${JSON.stringify(edited)}\n`);
    for (const mode of ['replay', 'record'] as const) {
      const error = thrownBy(() => opened(path, mode));
      expect(error).toMatchObject(errorOf('CASSETTE_INVALID', 'is invalid in line 2: '));
      expect(error.message).toContain(problem);
    }
  });

  test('stays valid when a request held a secret or another tool recorded', async () => {
    const path = newPath();
    await opened(path, 'record').answer(ask('my s3cret'), async () => 1);
    const other = opened(path, 'record', { scope: 'other', isAnswer: () => true });
    await other.answer(ask('q'), async () => null);
    expect(await opened(path, 'replay').answer(ask('my s3cret'), noNetwork)).toBe(1);
  });

  test.each(['no json', '[]', '{"scope":"search","key":"k"}'])(
    'is refused with the line number of %s',
    async (line) => {
      const path = newPath();
      await opened(path, 'record').answer(ask('q'), async () => 1);
      writeFileSync(path, `${readFileSync(path, 'utf8')}${line}\n`);
      const error = thrownBy(() => opened(path, 'replay'));
      expect(error).toMatchObject(errorOf('CASSETTE_INVALID', 'line 3'));
    },
  );
});
