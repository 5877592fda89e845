import { describe, expect, test } from '@jest/globals';

import { system, user, type ToolMessage } from '../../agent_rl/core/message.ts';
import { policies } from '../../agent_rl/core/plugins/policy.ts';
import type { ActOptions, Policy, PolicyTurn } from '../../agent_rl/core/plugins/policy.ts';
import { unbiased } from '../../agent_rl/core/services/generator.ts';
import type { Transcript, TokenSource } from '../../agent_rl/core/transcript.ts';
import { expectSpec } from './contract-parts.ts';

export interface PolicyContract {
  /** The class that carries `@policy`. */
  plugin: unknown;
  /** A policy to play with, as the container would make it. All may share one model; every episode is released. */
  create: () => Policy;
  /** Whether a token frames turns, calls or results, and so must never come from what others said. */
  isControl: (token: number) => boolean;
  /** Text that would be control tokens if it were encoded as the chat template's own. */
  forged: string;
}

type Asked = Partial<ActOptions> & { episode: string; turn?: number };

/** One key for a turn, whatever its episode is called. */
const actOptions = ({ turn = 0, ...asked }: Asked): ActOptions => ({
  sampling: unbiased,
  maxTokens: 64,
  key: { seed: 1, taskId: 'contract', sample: 0, turn },
  signal: new AbortController().signal,
  ...asked,
});

const asked = { role: 'tool', name: 'contract_tool', callId: 'call_0_0' } as const;
const toolResult = (content: string): ToolMessage => ({ ...asked, content });

const opening = [system('Be brief.'), user('What is 2 + 2?')];

/** Where each token came from. */
const sourcesOf = (transcript: Transcript): readonly TokenSource[] =>
  transcript
    .record()
    .spans.flatMap(({ start, end, source }) =>
      Array.from({ length: end - start }, (): TokenSource => source),
    );

interface Played {
  transcript: Transcript;
  turns: readonly PolicyTurn[];
}

/** Two turns with a tool's answer between them. */
async function play(policy: Policy, episode: string): Promise<Played> {
  const transcript = policy.begin(opening, []);
  const first = await policy.act(transcript, actOptions({ episode }));
  policy.observe(transcript, [toolResult('4')]);
  const second = await policy.act(transcript, actOptions({ episode, turn: 1 }));
  policy.release(episode);
  return { transcript, turns: [first, second] };
}

/** What was appended to a transcript, with what stood there before checked to be untouched. */
async function appended(
  transcript: Transcript,
  action: () => unknown,
): Promise<{ tokens: readonly number[]; sources: readonly TokenSource[] }> {
  const before = transcript.record();
  const sources = sourcesOf(transcript);
  const { length } = before.tokens;
  await action();
  const after = transcript.record();
  expect(after.tokens.slice(0, length)).toEqual(before.tokens);
  expect(after.logProbs.slice(0, length)).toEqual(before.logProbs);
  expect(sourcesOf(transcript).slice(0, length)).toEqual(sources);
  return { tokens: after.tokens.slice(length), sources: sourcesOf(transcript).slice(length) };
}

function expectOwnCalls({ message }: PolicyTurn, turn: number): void {
  const { toolCalls = [], malformedCalls = [] } = message;
  const ids = [...toolCalls, ...malformedCalls].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(new RegExp(`^call_${turn}_\\d+$`));
  for (const call of toolCalls) {
    expect(Array.isArray(call.arguments)).toBe(false);
    expect(typeof call.arguments).toBe('object');
  }
  for (const { problem } of malformedCalls) expect(problem.trim()).not.toBe('');
}

/** What every policy promises. Call it from the test of each policy plugin. */
export function describePolicyContract(name: string, contract: PolicyContract): void {
  const { plugin, create, isControl, forged } = contract;
  describe(`${name} keeps the Policy contract`, () => {
    test('is marked with a spec', () => {
      const spec = policies.specOf(plugin);
      expectSpec(spec);
      expect(spec?.settings ?? { type: 'object' }).toMatchObject({ type: 'object' });
    });

    test('begins with a prompt without sampled tokens', () => {
      const policy = create();
      const transcript = policy.begin(opening, []);
      const sources = new Set(sourcesOf(transcript));
      expect(sources).toContain('system');
      expect(sources).toContain('user');
      expect(sources).not.toContain('sampled');
      expect(policy.begin(opening, []).record()).toEqual(transcript.record());
    });

    test('appends what it sampled and nothing else, with finite log-probabilities', async () => {
      const { transcript, turns } = await play(create(), 'a');
      const { tokens, logProbs, spans } = transcript.record();
      const sampled = sourcesOf(transcript).map((source) => source === 'sampled');
      const count = turns.reduce((sum, turn) => sum + turn.sampledTokens, 0);
      expect(sampled.filter(Boolean)).toHaveLength(count);
      expect(count).toBeGreaterThan(0);
      expect(logProbs).toHaveLength(tokens.length);
      // A probability of 1 may come out a rounding error above it.
      const wrong = logProbs.filter((value, i) =>
        sampled[i] === true ? !(Number.isFinite(value) && value <= 1e-5) : value !== 0,
      );
      expect(wrong).toEqual([]);
      for (const { source, version } of spans) {
        expect(Number.isInteger(version)).toBe(source === 'sampled');
      }
    });

    test('leaves what is already in the transcript unchanged', async () => {
      const policy = create();
      const transcript = policy.begin(opening, []);
      let turn!: PolicyTurn;
      const acted = await appended(transcript, async () => {
        turn = await policy.act(transcript, actOptions({ episode: 'appends' }));
      });
      expect(acted.sources).toEqual(acted.tokens.map(() => 'sampled'));
      expect(acted.tokens).toHaveLength(turn.sampledTokens);
      for (const message of [toolResult('4'), user('Go on.')]) {
        const source = message.role;
        const { sources } = await appended(transcript, () => policy.observe(transcript, [message]));
        expect(sources).toContain(source);
        expect(sources.filter((one) => one !== 'template' && one !== source)).toEqual([]);
      }
      policy.release('appends');
    });

    test('samples no more tokens than its limit', async () => {
      const policy = create();
      const transcript = policy.begin(opening, []);
      const episode = 'short';
      const turn = await policy.act(transcript, actOptions({ episode, maxTokens: 1 }));
      expect(turn.sampledTokens).toBe(1);
      expect(['max-tokens', 'end-of-turn']).toContain(turn.stop);
      policy.observe(transcript, [user('Go on.')]);
      const next = await policy.act(transcript, actOptions({ episode, turn: 1 }));
      expect(next.sampledTokens).toBeGreaterThan(0);
      policy.release(episode);
    });

    test('samples the same tokens for the same key, whatever else is running', async () => {
      const alone = [await play(create(), 'a'), await play(create(), 'b')];
      const policy = create();
      const together = await Promise.all([play(policy, 'a'), play(policy, 'b')]);
      const shown = ({ transcript, turns }: Played): unknown => [transcript.record(), turns];
      expect(together.map(shown)).toEqual(alone.map(shown));
    });

    test('samples the same tokens whether or not the episode was released in between', async () => {
      const policy = create();
      const transcript = policy.begin(opening, []);
      const episode = 'forgotten';
      await policy.act(transcript, actOptions({ episode }));
      policy.observe(transcript, [toolResult('4')]);
      policy.release(episode);
      policy.release('never begun');
      await policy.act(transcript, actOptions({ episode, turn: 1 }));
      policy.release(episode);
      expect(transcript.tokens).toEqual((await play(create(), 'kept')).transcript.tokens);
    });

    test('encodes control tokens in messages of others as plain text', () => {
      const policy = create();
      const transcript = policy.begin([system(forged), user(forged)], []);
      policy.observe(transcript, [toolResult(forged), user(forged)]);
      const sources = sourcesOf(transcript);
      for (const role of ['system', 'user', 'tool'] as const) {
        const said = transcript.tokens.filter((_, i) => sources[i] === role);
        expect(said.length).toBeGreaterThan(0);
        expect(said.filter(isControl)).toEqual([]);
      }
    });

    test('reports that it was cancelled', async () => {
      const policy = create();
      const transcript = policy.begin(opening, []);
      const { length } = transcript;
      const options = actOptions({ episode: 'cancelled', signal: AbortSignal.abort() });
      const turn = await policy.act(transcript, options);
      policy.release('cancelled');
      expect(turn.stop).toBe('aborted');
      expect(transcript).toHaveLength(length + turn.sampledTokens);
    });

    test('names its calls after their turn', async () => {
      const { turns } = await play(create(), 'a');
      for (const [index, turn] of turns.entries()) expectOwnCalls(turn, index);
    });
  });
}
