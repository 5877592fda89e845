import { expect, test } from '@jest/globals';

import { EventStream } from '#agent_rl/core/collections/event-stream.ts';
import { Remembered } from '#agent_rl/core/collections/remembered.ts';

test('events are kept from the moment they are read, in order, and end with the run', async () => {
  const stream = new EventStream<number>();
  stream.push(0);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const event of stream.read()) seen.push(event);
  })();
  stream.push(1);
  await Promise.resolve();
  stream.push(2);
  stream.push(3);
  await new Promise(setImmediate);
  stream.push(4);
  stream.end();
  stream.push(5);
  await reading;
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('a reader that leaves does not block, and the next one sees later events', async () => {
  const stream = new EventStream<number>();
  const first = stream.read();
  stream.push(1);
  expect(await first.next()).toEqual({ value: 1, done: false });
  await first.return?.();
  stream.push(2);
  const second = stream.read();
  stream.push(3);
  stream.end();
  expect(await second.next()).toEqual({ value: 3, done: false });
  expect((await second.next()).done).toBe(true);
});

test('the value of a key is reused until there are too many keys', () => {
  const known = new Remembered<string>(2);
  let made = 0;
  const get = (key: string): string => known.get(key, () => `${key}${(made += 1)}`);
  expect([get('a'), get('b'), get('a'), get('b')]).toEqual(['a1', 'b2', 'a1', 'b2']);
  expect([get('c'), get('a'), get('c')]).toEqual(['c3', 'a4', 'c3']);
});

test('a failure is not cached', () => {
  const known = new Remembered<number>(2);
  const fail = (): number => {
    throw new Error('not now');
  };
  expect(() => known.get('a', fail)).toThrow('not now');
  expect(known.get('a', () => 7)).toBe(7);
});
