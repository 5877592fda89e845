import { describe, expect, test } from '@jest/globals';

import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { replay } from '#tests/support/replay-capture.ts';

/** Which turns are in which sequences, and whether these begin with turns that the client gave back. */
type Sequences = readonly (readonly [turns: readonly number[], given: boolean])[];
const own = (...turns: number[]) => [turns, false] as const;
const given = (...turns: number[]) => [turns, true] as const;

/** What becomes of a capture. */
async function expectSequences(name: string, sequences: Sequences, drift: object) {
  const { session, drawn, requests } = await replay(name);
  const record = sessionRecord(session, undefined);
  const shown = record.sequences.map(({ tokens, spans }) => ({
    sampled: spans
      .filter(({ source }) => source === 'sampled')
      .map(({ start, end }) => tokens.slice(start, end)),
    given: spans.some(({ source }) => source === 'demonstration'),
  }));
  const { drift: counts, turns, delivered } = record.requests;
  expect([turns, delivered, record.undelivered]).toEqual([requests.length, requests.length, 0]);
  const expected = sequences.map(([numbers, isGiven]) => ({
    sampled: numbers.map((turn) => drawn[turn]),
    given: isGiven,
  }));
  expect(shown).toHaveLength(expected.length);
  expect(shown).toEqual(expect.arrayContaining(expected));
  const drifted = Object.entries(counts).filter(([, count]) => count > 0);
  expect(Object.fromEntries(drifted)).toEqual(drift);
}

describe('Each client gets one sequence of exactly the drawn tokens', () => {
  // Arguments that the model writes as JSON.stringify does are sent back the same by those who read and write them anew.
  const both = (client: string): string[] => [`${client}-gen`, `${client}-stream`];
  const extraKey = (client: string): string => `${client}-extrakey-gen`;
  const unknownTool = (client: string): string => `${client}-unknown-gen`;
  test.each<[object, number, string[]]>([
    [{ arguments: 1 }, 3, ['ai6-compat-two-gen', 'ai6-responses-two-gen']],
    [
      { arguments: 1 },
      3,
      ['ai7-compat-two', 'mastra-compat-two', 'ai7-responses-two'].flatMap(both),
    ],
    [{ arguments: 1, thoughts: 2 }, 3, ['ai7-chat-two', 'lg-chat-two'].flatMap(both)],
    [{ thoughts: 2 }, 3, ['oai-runner-two', 'agents-chat-two'].flatMap(both)],
    [{}, 3, ['oai-loop-two', 'agents-responses-two', 'lg-responses-two'].flatMap(both)],
    [{ arguments: 1 }, 2, ['ai7-compat-extrakey-gen']],
    [{}, 2, ['agents-chat', 'lg-chat', 'mastra-compat', 'oai-loop', 'oai-runner'].map(extraKey)],
    [{}, 2, ['ai7-compat', 'lg-chat', 'mastra-compat', 'oai-runner'].map(unknownTool)],
    [{}, 2, ['agents-chat-finishstop-stream', 'oai-runner-finishstop-stream']],
  ])('%j is changed over %i turns by each of %j', async (drift, turns, names) => {
    for (const name of names) await expectSequences(name, [own(...Array(turns).keys())], drift);
  });
});

describe('A request that does not extend a known conversation begins its own sequence', () => {
  test.each<[string, Sequences, object]>([
    // The third request has lost the calls of the first turn and keeps its text.
    ['more-prune', [own(0, 1), given(2)], { arguments: 1, thoughts: 1, history: 1 }],
    // The second request has other tools and another system message.
    ['more-active', [own(0), given(1, 2)], { tools: 1 }],
    // A tool of the first conversation holds the second.
    ['more-sub', [own(0, 3), own(1, 2)], {}],
  ])('%s', (name, sequences, drift) => expectSequences(name, sequences, drift));
});

test.each([
  ['more-twotext', ['user', 'assistant', 'user']],
  ['more-params-o3', ['system', 'user']],
  // Neither the call nor what answers it has an id.
  ['oai-loop-noid-gen', ['system', 'user', 'assistant', 'tool']],
])('%s is read message by message', async (name, roles) => {
  const { session } = await replay(name);
  const roleOf = session.tree.nodes.at(-1)?.given.map(({ message }) => message.role);
  expect(roleOf).toEqual(roles);
});
