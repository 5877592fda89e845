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

test.each(['EPIPE', 'EOF'])('what is written after %s is dropped, which is told once', (code) => {
  const { stream, lasting, told } = opened();
  lasting.write('read');
  for (const _ of [1, 2]) stream.emit('error', failure(code));
  lasting.write('lost');
  expect([String(stream.read()), told()]).toEqual(['read', 1]);
});

test('another failure is not passed over', () => {
  const { stream, told } = opened();
  expect(() => stream.emit('error', failure('ENOSPC'))).toThrow('write ENOSPC');
  expect(told()).toBe(0);
});
