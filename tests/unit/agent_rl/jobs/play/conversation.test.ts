import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { converse } from '#agent_rl/jobs/play/conversation.ts';
import type { EpisodeMaker } from '#agent_rl/rollout/episode-parts.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, type Script, ScriptedPolicy } from '#tests/support/scripted-policy.ts';
import { expectRejection } from '#tests/support/thrown.ts';

const parameters = Type.Object({ word: Type.String() });
const echo = { name: 'echo', description: 'Says it again', parameters };

/** Holds conversations of these lines with a scripted policy. */
async function talk(lines: string[], script: Script, maxTokens = 1000) {
  const policy = new ScriptedPolicy(script);
  const make: EpisodeMaker = () => ({
    policy,
    world: worldOfOne(new ScriptedEnvironment({})),
    tools: new Map([
      ['echo', { call: async ({ word }) => ({ content: `${String(word)}\n\u001B[2Jtwice` }) }],
    ]),
    toolRunner: new ToolRunner([echo]),
    rewards: [],
    invalidCallPenalty: 0,
    limits: { maxTurns: 1, maxEpisodeTokens: 10, maxTurnTokens: 2, invalidCallLimit: 1 },
  });
  const shown: string[] = [];
  const rest = [...lines];
  const held = await converse({
    make,
    request: { step: 0, seed: 1, sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 } },
    ask: async () => rest.shift(),
    print: (text) => void shown.push(text),
    signal: new AbortController().signal,
    maxTokens,
  });
  return { held, shown, policy, rest };
}

const repeats: Script = (_options, heard) => ({
  message: says(`I heard ${heard.map(({ content }) => content).join(', ')}.`),
});

describe('a conversation', () => {
  test('keeps what was said, over more turns than an episode of the run has', async () => {
    const { held, shown } = await talk(['One.', '', ' Two. ', 'Three.'], repeats);
    expect(shown).toEqual(['I heard One..', 'I heard One., Two..', 'I heard One., Two., Three..']);
    expect(held).toHaveLength(1);
    const roles = held[0]?.parts[0]?.messages.map(({ role }) => role);
    expect(roles?.join(' ')).toBe('user assistant user assistant user assistant');
  });

  test('ends with /exit, whatever follows', async () => {
    const { rest, held } = await talk(['One.', '/exit', 'Two.'], repeats);
    expect([rest, held.length]).toEqual([['Two.'], 1]);
  });

  test('starts anew with /reset, without what was said before', async () => {
    const { shown, held } = await talk(['/reset', 'One.', '/reset', 'Two.'], repeats);
    expect(shown).toEqual([
      'A new conversation.',
      'I heard One..',
      'A new conversation.',
      'I heard Two..',
    ]);
    expect(held.map(({ key }) => key.sample)).toEqual([0, 1]);
  });

  test('shows calls and what they gave, without control characters', async () => {
    const calling = says('Let me see.', ['echo', { word: 'a\nb' }], ['nothing', {}]);
    const script: Script = ({ key: { turn } }) => ({
      message: turn === 0 ? calling : says('Done.'),
    });
    const { shown } = await talk(['Go.'], script);
    expect(shown).toHaveLength(2);
    expect(shown[0]).toMatch(
      /^Let me see\.\n {2}calls echo\n {4}word: a\n {6}b\n {4}result: a\n {6}b\n {6}[^]*twice\n {2}calls nothing\n {4}rejected: /,
    );
    expect(shown[0]).not.toContain('\u001B');
    expect(shown[1]).toBe('Done.');
  });

  test('says that its context is full, and starts anew with the next message', async () => {
    const script: Script = ({ key: { turn } }) =>
      turn === 0 ? { message: says('So and'), stop: 'max-tokens' } : { message: says('?') };
    const { shown, held } = await talk(['One.', 'Two.'], script, 50);
    expect(shown[0]).toMatch(
      /^So and\n\(The conversation has reached the limit policy\.maxContextTokens = 50/,
    );
    expect(held).toHaveLength(2);
  });

  test('shows its commands on /help, and says what is missing where no message comes', async () => {
    const { shown } = await talk(['/help', '/exit'], repeats);
    expect(shown).toEqual([expect.stringMatching(/\/reset .*\/exit /)]);
    await expectRejection(talk([], repeats), 'CONFIG_INVALID', /No message: .*--prompt/);
  });
});
