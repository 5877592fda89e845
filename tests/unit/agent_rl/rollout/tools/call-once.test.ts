import { expect, test } from '@jest/globals';

import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import type { AttemptJournal, RecordedCall } from '#agent_rl/core/services/journal.ts';
import { callOnce, type OnceOptions } from '#agent_rl/rollout/tools/call-once.ts';

const call = { id: 'call_0_0', name: 'pay', arguments: {} };
const place = { agent: 'policy', turn: 0, call: 0 };
const answer = (content: string): ExecutedCall => ({
  call,
  status: 'ok',
  result: { content },
  wallMs: 1,
});
const ended = { ended: answer('recorded') };
const begun = {};

/** What happens with a call of which this is recorded. */
async function made(
  recorded: RecordedCall | undefined,
  { replays = 'again', repeats = true }: Partial<OnceOptions> = {},
) {
  const events: string[] = [];
  const journal: AttemptJournal = {
    isReplayed: recorded !== undefined,
    recordedCall: () => recorded,
    callBegun: () => void events.push('begun'),
    callEnded: () => void events.push('ended'),
    stepped: () => undefined,
    judged: () => undefined,
    beginAnew: () => undefined,
  };
  const run = async () => {
    events.push('run');
    return answer('live');
  };
  const { result } = await callOnce(place, call, { journal, replays, repeats, run });
  return { content: result.content, events: events.join(' ') };
}

const live = { content: 'live', events: 'begun run ended' };
const taken = { content: 'recorded', events: '' };

test.each([
  ['a call that was not made', undefined, {}, live],
  ['a tool that may be repeated, with its state', ended, {}, live],
  ['a tool whose results bring the environment back', ended, { replays: 'from-results' }, taken],
  ['a tool that may not be repeated', ended, { repeats: false }, taken],
  ['an interrupted call that may be repeated', begun, {}, live],
] as const)('a resumed run makes %s as it may', async (_, recorded, options, expected) => {
  expect(await made(recorded, options)).toEqual(expected);
});

test('an interrupted call that may not be repeated fails the episode', async () => {
  await expect(made(begun, { repeats: false })).rejects.toMatchObject({ code: 'TOOL_INTERRUPTED' });
});
