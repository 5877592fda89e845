import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { Places, VersionGate } from '#agent_rl/gateway/sampling/places.ts';
import { TrainingClients } from '#agent_rl/jobs/serve/training/training-clients.ts';

const { signal } = new AbortController();

/** Places, what they freed, and turns that are ended by hand. */
function opened(all: number) {
  const freed: string[] = [];
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const places = new Places(all, (episode) => freed.push(episode));
  const turn = (client: string, episode: string, stopped?: AbortSignal) =>
    places.turn({ client, episode, signal: stopped }, () => {
      begun.push(episode);
      return new Promise<void>((resolve) => ends.set(episode, resolve));
    });
  const end = async (episode: string): Promise<void> => {
    ends.get(episode)?.();
    await sleep(0);
  };
  /** A whole turn of an episode. */
  const play = async (client: string, episode: string): Promise<void> => {
    const one = turn(client, episode);
    await sleep(0);
    await end(episode);
    await one;
  };
  return { places, freed, begun, turn, end, play };
}

test('the longest idle episode gives its place to a client that waits for one', async () => {
  const { places, freed, turn, end, play } = opened(2);
  const turns = ['a', 'b'].map((episode) => turn('killed', episode));
  await sleep(0);
  for (const episode of ['b', 'a']) await end(episode);
  await Promise.all(turns);
  expect(places.counts).toEqual({ all: 2, used: 0, idle: 2, waiting: 0 });
  await play('', 'chat');
  expect(freed).toEqual(['b']);
  expect(places.counts).toEqual({ all: 2, used: 0, idle: 2, waiting: 0 });
});

test('turns in progress keep their places, and waiting clients are served in order', async () => {
  const { places, freed, begun, turn, end } = opened(1);
  const turns = [turn('many', 'm1'), turn('many', 'm2'), turn('many', 'm3'), turn('few', 'f1')];
  await sleep(0);
  expect([begun, freed]).toEqual([['m1'], []]);
  expect(places.counts).toEqual({ all: 1, used: 1, idle: 0, waiting: 3 });
  for (const episode of ['m1', 'm2', 'f1', 'm3']) await end(episode);
  await Promise.all(turns);
  // m2 was first to wait; then the other client's turn comes before the third of this one.
  expect(begun).toEqual(['m1', 'm2', 'f1', 'm3']);
  expect(freed).toEqual(['m1', 'm2', 'f1']);
});

test('an episode keeps a place that no client needs, and an aborted turn takes no place', async () => {
  const { places, freed, turn, end } = opened(1);
  for (let i = 0; i < 3; i++) {
    const one = turn('client', 'a');
    await sleep(0);
    const gone = new AbortController();
    const other = turn('other', 'b', gone.signal);
    gone.abort(new Error('left'));
    await expect(other).rejects.toThrow('left');
    await end('a');
    await one;
  }
  expect(freed).toEqual([]);
  expect(places.counts).toEqual({ all: 1, used: 0, idle: 1, waiting: 0 });
});

test('an episode released during its turn holds no place afterwards', async () => {
  const { places, turn, end } = opened(1);
  const one = turn('client', 'a');
  await sleep(0);
  places.release('a');
  await end('a');
  await one;
  expect(places.counts).toEqual({ all: 1, used: 0, idle: 0, waiting: 0 });
});

test('other weights free all places', async () => {
  const { places, freed, play } = opened(2);
  await play('client', 'a');
  await places.between(async () => undefined);
  expect([freed, places.counts.idle]).toEqual([['a'], 0]);
});

test('the sweep releases idle episodes and never a turn in progress', async () => {
  const { places, freed } = opened(2);
  const clients = new TrainingClients(places, 0.05);
  let end: (() => void) | undefined;
  await clients.turn({ client: 'c', episode: 'idle', signal }, async () => undefined);
  const held = () => new Promise<void>((resolve) => (end = resolve));
  const drawn = clients.turn({ client: 'c', episode: 'drawn', signal }, held);
  await sleep(300);
  expect(freed).toEqual(['c/idle']);
  end?.();
  await drawn;
  await sleep(200);
  expect(freed).toEqual(['c/idle', 'c/drawn']);
  clients.close();
});

test('a client that disconnects releases only its own episodes', async () => {
  const { places, freed } = opened(4);
  const clients = new TrainingClients(places, 60);
  for (const client of ['one', 'other'])
    await clients.turn({ client, episode: 'e', signal }, async () => undefined);
  clients.forget('one');
  clients.close();
  expect([freed, places.counts.idle]).toEqual([['one/e'], 1]);
});

test('the owner of the weights is reported with its idle time', () => {
  const { places } = opened(1);
  const clients = new TrainingClients(places, 60);
  clients.own('one');
  expect(() => clients.own('other')).toThrow(/0 s ago. This server drops a run after 60 s/);
  clients.forget('one');
  clients.own('other');
  clients.close();
});

test('weights change after the turns in progress and before the next turn', async () => {
  const gate = new VersionGate();
  const order: string[] = [];
  const turn = (name: string, ms: number) =>
    gate.turn(async () => {
      order.push(`${name} begins`);
      await sleep(ms);
      order.push(`${name} ends`);
    });
  const first = turn('first', 20);
  await sleep(1);
  const change = gate.between(async () => void order.push('other weights'));
  const second = turn('second', 0);
  await Promise.all([first, change, second]);
  expect(order.join()).toBe('first begins,first ends,other weights,second begins,second ends');
});

test('a failed change lets the next turns through', async () => {
  const gate = new VersionGate();
  await expect(gate.between(() => Promise.reject(new Error('not read')))).rejects.toThrow(
    'not read',
  );
  expect(await gate.turn(async () => 1)).toBe(1);
});
