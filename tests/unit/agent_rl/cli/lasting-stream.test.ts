import { PassThrough } from 'node:stream';

import { expect, test } from '@jest/globals';

import { lastingStream } from '#agent_rl/cli/lasting-stream.ts';

const failure = (code: string) => Object.assign(new Error(`write ${code}`), { code });

function opened() {
  const stream = new PassThrough();
  let told = 0;
  const lasting = lastingStream(stream as unknown as NodeJS.WriteStream, () => told++);
  return { stream, lasting, told: () => told };
}

test.each(['EPIPE', 'EOF'])('output after %s is dropped, with one notice', (code) => {
  const { stream, lasting, told } = opened();
  lasting.write('read');
  for (const _ of [1, 2]) stream.emit('error', failure(code));
  lasting.write('lost');
  expect([String(stream.read()), told()]).toEqual(['read', 1]);
});

test('another failure is thrown', () => {
  const { stream, told } = opened();
  expect(() => stream.emit('error', failure('ENOSPC'))).toThrow('write ENOSPC');
  expect(told()).toBe(0);
});
