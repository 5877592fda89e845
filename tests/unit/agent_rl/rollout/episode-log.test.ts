import { expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import { EpisodeLog } from '#agent_rl/rollout/episode-log.ts';

const log = (fields: Partial<Pick<EpisodeLog, 'returned' | 'requests'>> = {}): EpisodeLog => {
  const said = [user('Count.'), { role: 'assistant', content: 'one' } as const];
  const own = Object.assign(new EpisodeLog('t 0 at 0'), fields);
  own.messages.push(...said);
  return own;
};
const requests = { turns: 1, replayed: 0, delivered: 1, drift: {}, ignored: {} };

test("the answer is the agent's result, or else its last message", () => {
  expect(log().answer).toBe('one');
  expect(log({ returned: 0, requests }).answer).toBe(0);
  expect(log({ returned: { value: 1 } }).answer).toEqual({ value: 1 });
  // An agent with a loop of its own that returned nothing, or threw.
  expect(log({ requests }).answer).toBeUndefined();
  expect(new EpisodeLog('t 0 at 0').answer).toBeUndefined();
});

test('undelivered requests to the model are recorded', () => {
  const own = Object.assign(log({ requests }), { undelivered: 4 });
  expect(own.record()).toMatchObject({ undelivered: 4, requests });
  expect(log().record()).toMatchObject({ undelivered: 0, requests: undefined });
});
