import { expect, test } from '@jest/globals';

import { drawnMasks } from '#agent_rl/core/transcript.ts';
import type { OutsideRecord } from '#agent_rl/rollout/episode-parts.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { keepLedger } from '#agent_rl/rollout/tokens/ledger.ts';
import { buildData } from '#agent_rl/trainer/build-data.ts';
import {
  askBy,
  calling,
  type ChatMessage,
  doorTo,
  result,
  said,
  tool,
  user,
} from '#tests/support/agent-client.ts';
import { options } from '#tests/support/grpo-trainer-setup.ts';
import { groupOf, member } from '#tests/support/rollouts.ts';
import { answering, scriptedSession } from '#tests/support/scripted-session.ts';
import { shownSequences } from '#tests/support/shown-sequences.ts';

/*
 * Agents whose histories are no extension, accounted by hand: «…» are the tokens that a sequence trains, ‹…› sampled ones
 * that an earlier sequence trains, and all else is only read. The cue opens the thought of a turn.
 */

const tools = [tool('search'), tool('ask')];
const head = (system: string) =>
  `<|im_start|>system\n${system}Tools: search(query) ask(query)<|im_end|>\n`;
const told = (text: string) => `<|im_start|>user\n${text}<|im_end|>\n`;
const answered = (text: string) => told(`<tool_response>${text}</tool_response>`);
const cue = '<|im_start|>assistant\n<think>';
const end = '<|im_end|>';

async function opened(answers: Readonly<Record<string, string>>) {
  const { session, text, requests } = await scriptedSession(answering(answers));
  return {
    ask: askBy(doorTo(session)),
    requests,
    ended: async (answer: string) => {
      await session.end();
      const record = sessionRecord(session, answer);
      const trained = drawnMasks(record.sequences).map((mask, index) =>
        record.sequences[index]!.tokens.filter((_, at) => mask[at] === 1),
      );
      return {
        record,
        shown: shownSequences(record.sequences, text),
        /** Of each sequence, the tokens that it trains. */
        trained: trained.map((ids) => ids.map((id) => text.tokenizer.decode([id]))),
      };
    },
  };
}

/** Beside another part that was worse and sampled four tokens. */
function learned({ sequences, undelivered }: OutsideRecord) {
  const members = [
    member({ reward: 1, sequences, undelivered, sample: 0 }),
    member({ reward: -1, sampled: 4, sample: 1 }),
  ];
  const algorithm = { ...options.algorithm, aggregation: 'sequence-mean' as const };
  const { data, uses, trainedTokens } = buildData(
    { groups: [[groupOf(members)]], discarded: [] },
    algorithm,
    options.rollout,
  );
  const { tokens, sampled } = keepLedger(uses, trainedTokens);
  const own = data.filter(({ rollout }) => rollout.key.sample === 0);
  return {
    trained: tokens.trained - 4,
    undelivered: tokens.undelivered,
    sampled: sampled - 4,
    sequences: own.map(({ datum }) => datum.from?.sequence),
    weight: own
      .flatMap(({ datum }) => Array.from(datum.weights))
      .reduce((sum, each) => sum + each, 0),
  };
}

test('an agent that prunes its history has two sequences, and each turn is trained in only one', async () => {
  const { ask, ended } = await opened({
    [told('Q')]: 'one</think>A',
    [told('more')]: calling('search', 'b', 'two'),
    r2: 'three</think>D',
  });
  const first = await ask({ messages: [user('Q')], tools });
  const whole: ChatMessage[] = [user('Q'), said(first), user('more')];
  const second = await ask({ messages: whole, tools });
  // The first turn and what was said after it are left out.
  const pruned = [user('Q'), said(second), result(second, 'r2')];
  const third = await ask({ messages: pruned, tools });
  const fourth = { messages: [...pruned, said(third), user('Q')], tools };
  expect((await ask(fourth)).choices[0]?.message.content).toBe('A');
  const { shown, trained, record } = await ended('D');
  const call = '</think><tool_call>\n{"name":"search","arguments":{"query":"b"}}\n</tool_call>';
  const given = '</think><tool_call>{"name": "search", "arguments": {"query": "b"}}</tool_call>';
  expect(shown).toEqual([
    `${head('')}${told('Q')}${cue}«one</think>A${end}»\n${told('more')}${cue}«two${call}${end}»`,
    // The second turn as a given one: as its client sent it back, written by the template, and not trained again.
    `${head('')}${told('Q')}${cue}two${given}${end}\n${answered('r2')}${cue}«three</think>D${end}»\n${told('Q')}${cue}«one</think>A${end}»`,
  ]);
  expect(trained[1]?.join(' ')).toBe(`t h re e </think> D ${end} on e </think> A ${end}`);
  expect(trained[0]?.slice(0, 5)).toEqual(['on', 'e', '</think>', 'A', end]);
  expect(record.requests.drift).toMatchObject({ history: 1, thoughts: 0, tools: 0 });
  const sampled = trained.flat().length;
  const { weight, ...booked } = learned(record);
  expect(booked).toEqual({ trained: sampled, sampled, undelivered: 0, sequences: [0, 1] });
  expect(weight).toBeCloseTo(1 / 2, 6);
});

test('a sub-agent under the same key has its own sequence, and the part has weight one', async () => {
  const { ask, ended } = await opened({
    [told('M')]: calling('ask', 'x', 'hm'),
    [told('x')]: 'a</think>b',
    [answered('b')]: 'c</think>d',
  });
  const first = await ask({ messages: [user('M')], tools });
  const sub = await ask({ messages: [{ role: 'system', content: 'Sub.' }, user('x')] });
  const answer = String(sub.choices[0]?.message.content);
  const last = await ask({ messages: [user('M'), said(first), result(first, answer)], tools });
  expect(last.choices[0]?.message.content).toBe('d');
  const { shown, trained, record } = await ended('d');
  const call = '</think><tool_call>\n{"name":"ask","arguments":{"query":"x"}}\n</tool_call>';
  expect(shown).toEqual([
    `<|im_start|>system\nSub.<|im_end|>\n${told('x')}${cue}«a</think>b${end}»`,
    `${head('')}${told('M')}${cue}«hm${call}${end}»\n${answered('b')}${cue}«c</think>d${end}»`,
  ]);
  expect(trained[0]).toEqual(['a', '</think>', 'b', end]);
  expect(trained[1]?.slice(-4)).toEqual(['c', '</think>', 'd', end]);
  // What the agent returned is said by the second.
  expect(record.messages.map(({ content }) => content)).toEqual(['M', '', 'b', 'd']);
  const results = record.turns.flatMap(({ calls }) => calls.map((called) => called.result.content));
  expect(results).toEqual(['b']);
  expect(record.requests.drift).toMatchObject({ history: 0, thoughts: 0 });
  const { weight, ...booked } = learned(record);
  const sampled = 4 + trained[1]!.length;
  expect(booked).toEqual({ trained: sampled, sampled, undelivered: 0, sequences: [0, 1] });
  expect(weight).toBeCloseTo(1 / 2, 6);
});

test('three parallel branches of one turn train that turn once', async () => {
  const { ask, ended } = await opened({
    [told('Q')]: 'p</think>plan',
    [told('b1')]: 'x</think>1',
    [told('b2')]: 'y</think>2',
    [told('b3')]: 'z</think>3',
    [told('go on')]: 'w</think>4',
  });
  const first = await ask({ messages: [user('Q')] });
  const branch = (name: string) => [user('Q'), said(first), user(name)];
  const [one] = await Promise.all(
    ['b1', 'b2', 'b3'].map((name) => ask({ messages: branch(name) })),
  );
  await ask({ messages: [...branch('b1'), said(one!), user('go on')] });
  const { shown, trained, record } = await ended('4');
  const known = `${told('Q')}${cue}‹p</think>plan${end}›\n`;
  // By place: the shorter ones first, and of two alike that with the smaller id.
  expect(shown).toEqual([
    `${told('Q')}${cue}«p</think>plan${end}»\n${told('b2')}${cue}«y</think>2${end}»`,
    `${known}${told('b3')}${cue}«z</think>3${end}»`,
    `${known}${told('b1')}${cue}«x</think>1${end}»\n${told('go on')}${cue}«w</think>4${end}»`,
  ]);
  expect(trained.map((tokens) => tokens.join(' '))).toEqual([
    `p </think> p l an ${end} y </think> 2 ${end}`,
    `z </think> 3 ${end}`,
    `x </think> 1 ${end} w </think> 4 ${end}`,
  ]);
  const { weight, ...booked } = learned(record);
  expect(booked).toEqual({ trained: 22, sampled: 22, undelivered: 0, sequences: [0, 1, 2] });
  expect(weight).toBeCloseTo(1 / 2, 6);
});
