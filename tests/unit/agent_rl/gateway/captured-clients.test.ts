import { describe, expect, test } from '@jest/globals';

import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { capture, replay } from '#tests/support/replay-capture.ts';
import { scriptedSession } from '#tests/support/scripted-session.ts';

/** Which turns are in which sequences, and whether these begin with turns that the client gave back. */
type Sequences = readonly (readonly [turns: readonly number[], given: boolean])[];

/** What became of a capture. */
async function played(name: string) {
  const { session, drawn, requests } = await replay(name);
  const record = sessionRecord(session, undefined);
  const shown = record.sequences.map(({ tokens, spans }) => ({
    sampled: spans
      .filter(({ source }) => source === 'sampled')
      .map(({ start, end }) => tokens.slice(start, end)),
    given: spans.some(({ source }) => source === 'demonstration'),
  }));
  const { drift, turns, delivered } = record.requests;
  const drifted = Object.fromEntries(Object.entries(drift).filter(([, count]) => count > 0));
  expect({ turns, delivered }).toEqual({ turns: requests.length, delivered: requests.length });
  expect(record.undelivered).toBe(0);
  return { shown, drawn, drift: drifted };
}

async function expectSequences(name: string, sequences: Sequences, drift: object) {
  const { shown, drawn, drift: counted } = await played(name);
  const expected = sequences.map(([turns, given]) => ({
    sampled: turns.map((turn) => drawn[turn]),
    given,
  }));
  expect(shown).toHaveLength(expected.length);
  expect(shown).toEqual(expect.arrayContaining(expected));
  expect(counted).toEqual(drift);
}

describe('Each client gets one sequence of exactly the drawn tokens', () => {
  // Arguments that the model writes as JSON.stringify does are sent back the same by those who read and write them anew.
  test.each<[string, object]>([
    ['ai6-compat-two-gen', { arguments: 1 }],
    ['ai7-compat-two-gen', { arguments: 1 }],
    ['ai7-compat-two-stream', { arguments: 1 }],
    ['ai7-chat-two-gen', { arguments: 1, thoughts: 2 }],
    ['ai7-chat-two-stream', { arguments: 1, thoughts: 2 }],
    ['oai-loop-two-gen', {}],
    ['oai-loop-two-stream', {}],
    ['oai-runner-two-gen', { thoughts: 2 }],
    ['oai-runner-two-stream', { thoughts: 2 }],
    ['agents-chat-two-gen', { thoughts: 2 }],
    ['agents-chat-two-stream', { thoughts: 2 }],
    ['lg-chat-two-gen', { arguments: 1, thoughts: 2 }],
    ['lg-chat-two-stream', { arguments: 1, thoughts: 2 }],
    ['mastra-compat-two-gen', { arguments: 1 }],
    ['mastra-compat-two-stream', { arguments: 1 }],
    ['ai6-responses-two-gen', { arguments: 1 }],
    ['ai7-responses-two-gen', { arguments: 1 }],
    ['ai7-responses-two-stream', { arguments: 1 }],
    ['agents-responses-two-gen', {}],
    ['agents-responses-two-stream', {}],
    ['lg-responses-two-gen', {}],
    ['lg-responses-two-stream', {}],
  ])('%s changes %j', (name, drift) => expectSequences(name, [[[0, 1, 2], false]], drift));

  test.each<[string, object]>([
    ['agents-chat-extrakey-gen', {}],
    ['ai7-compat-extrakey-gen', { arguments: 1 }],
    ['lg-chat-extrakey-gen', {}],
    ['mastra-compat-extrakey-gen', {}],
    ['oai-loop-extrakey-gen', {}],
    ['oai-runner-extrakey-gen', {}],
    ['ai7-compat-unknown-gen', {}],
    ['lg-chat-unknown-gen', {}],
    ['mastra-compat-unknown-gen', {}],
    ['oai-runner-unknown-gen', {}],
    ['agents-chat-finishstop-stream', {}],
    ['oai-runner-finishstop-stream', {}],
  ])('%s of two turns changes %j', (name, drift) =>
    expectSequences(name, [[[0, 1], false]], drift),
  );
});

describe('A request that does not extend a known conversation begins its own sequence', () => {
  test.each<[string, Sequences, object]>([
    // The third request has lost the calls of the first turn and keeps its text.
    [
      'more-prune',
      [
        [[0, 1], false],
        [[2], true],
      ],
      { arguments: 1, thoughts: 1, history: 1 },
    ],
    // The second request has other tools and another system message.
    [
      'more-active',
      [
        [[0], false],
        [[1, 2], true],
      ],
      { tools: 1 },
    ],
    // A tool of the first conversation holds the second.
    [
      'more-sub',
      [
        [[0, 3], false],
        [[1, 2], false],
      ],
      {},
    ],
  ])('%s', (name, sequences, drift) => expectSequences(name, sequences, drift));
});

test('a turn that the run cut off keeps its drawn tokens', async () => {
  const [{ turn }] = capture('agents-chat-length-gen') as [ReturnType<typeof capture>[number]];
  const { text } = await scriptedSession(() => '');
  const maxTurnTokens = text.encodeText(turn.text).length;
  const { session } = await replay('agents-chat-length-gen', { maxTurnTokens });
  expect(sessionRecord(session, turn.text)).toMatchObject({
    cut: true,
    sequences: [
      { spans: expect.arrayContaining([expect.objectContaining({ source: 'sampled' })]) },
    ],
  });
});

test.each([
  ['more-twotext', ['user', 'assistant', 'user']],
  ['more-params-o3', ['system', 'user']],
  // Neither the call nor what answers it has an id.
  ['oai-loop-noid-gen', ['system', 'user', 'assistant', 'tool']],
])('%s is read message by message', async (name, roles) => {
  const { session } = await replay(name);
  const given = session.tree.nodes.at(-1)?.given.map(({ message }) => message.role);
  expect(given).toEqual(roles);
});

test('an image is refused with its position', async () => {
  const { session } = await scriptedSession(() => 'never');
  const [{ path, body }] = capture('more-image') as [ReturnType<typeof capture>[number]];
  const call = { method: 'POST', path, header: () => undefined, body };
  const { signal } = new AbortController();
  await expect(
    answerCall({ ...call, signal }, session, { unsupported: 'ignore' }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('messages[0].content: a part is not text'),
  });
});
