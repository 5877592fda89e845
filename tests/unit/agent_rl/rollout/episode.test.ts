import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import { user } from '#agent_rl/core/message.ts';
import { drawnMasks } from '#agent_rl/core/transcript.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { calling, echoing, play, type Setting } from '#tests/support/play-episode.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

describe('runEpisode', () => {
  test('plays turns until the environment is done', async () => {
    const { episode, policy, environment } = await play({ script: echoing() });
    expect(episode).toMatchObject({
      taskId: 't1',
      key: { sample: 2 },
      agent: 'policy',
      step: 5,
      turns: 2,
      outcome: 'completed',
      success: true,
      reward: 1,
      components: { solved: 1 },
      malformedCalls: 0,
    });
    expect(episode.problem).toBeUndefined();
    const result = { role: 'tool', name: 'echo', callId: 'call_0_0', content: 'x' };
    expect(policy.observed).toEqual([result]);
    expect(environment.ends).toEqual(['done']);
    expect(policy.offered).toEqual([['echo']]);
    expect(policy.released).toHaveLength(1);
  });

  test('hides secrets of the environment from the policy, even truncated ones', async () => {
    process.env['ACME_API_TOKEN'] = 'planted-canary';
    try {
      const { policy, episode } = await play({
        script: calling(['echo', { text: 'planted-canary' }]),
        environment: {
          start: async () => [user('a task of planted-canary')],
          step: async ({ calls: { length } }) => ({
            done: length === 0,
            messages: [user('planted-canary?')],
          }),
        },
        tool: () => ({ content: `${'x'.repeat(3995)}planted-canary` }),
      });
      expect(JSON.stringify(policy.observed)).not.toContain('plant');
      expect(policy.observed.at(-1)).toEqual(user('[redacted]?'));
      const { messages, calls } = episode;
      expect(messages[0]).toEqual(user('a task of [redacted]'));
      expect(calls[0]?.result.content).not.toContain('plant');
      const leak = (): never => {
        throw new Error('401 for key planted-canary');
      };
      expect((await play({ script: leak })).episode.problem).toBe('401 for key [redacted]');
    } finally {
      delete process.env['ACME_API_TOKEN'];
    }
  });

  test('marks exactly the sampled tokens as sampled, with their probabilities', async () => {
    const { episode } = await play({ script: echoing() });
    // Prompt 1-4, turn 100 7 2, tool 50 51, cue 3, turn 101 7 2.
    const [sequence, ...others] = episode.sequences;
    expect(others).toEqual([]);
    expect(sequence?.tokens).toEqual([1, 2, 3, 4, 100, 7, 2, 50, 51, 3, 101, 7, 2]);
    expect(drawnMasks(episode.sequences).map((mask) => Array.from(mask))).toEqual([
      [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1],
    ]);
    const drawn = [0, 0, 0, 0, -1, -0.07, -0.02, 0, 0, 0, -1.01, -0.07, -0.02];
    expect(sequence?.logProbs).toEqual(drawn);
  });

  test('runs all calls of a turn in order, and answers malformed ones in their place', async () => {
    const call = (id: string) => ({ id, name: 'echo', arguments: { text: `text of ${id}` } });
    const malformedCalls = [{ id: 'call_0_1', text: '{', problem: 'not JSON' }];
    const toolCalls = ['call_0_0', 'call_0_2'].map(call);
    const turn = { ...says(''), toolCalls, malformedCalls };
    const { policy, episode } = await play({
      script: ({ key }) => ({ message: key.turn === 0 ? turn : says('done') }),
    });
    expect(policy.observed).toMatchObject([
      { name: 'echo', callId: 'call_0_0', content: 'text of call_0_0' },
      { name: 'unreadable_call', callId: 'call_0_1', content: expect.stringMatching(/not JSON$/) },
      { name: 'echo', callId: 'call_0_2', content: 'text of call_0_2' },
    ]);
    expect(episode.malformedCalls).toBe(1);
    expect(episode.calls).toHaveLength(2);
  });

  test('ends at the limit of invalid calls and subtracts their penalty', async () => {
    const { episode, environment } = await play({
      script: calling(['ech', {}], ['echo', {}], ['echo', { text: 1 }], ['echo', { text: 'x' }]),
      parts: { invalidCallPenalty: 0.25 },
    });
    expect(environment.ends).toEqual(['invalid-calls']);
    expect(episode).toMatchObject({ turns: 3, reward: 1 - 3 * 0.25 });
    expect(episode.components).toEqual({ solved: 1, invalidCalls: -0.75 });
  });

  test("adds weighted rewards, which see the agent's last message as the answer", async () => {
    const answers: unknown[] = [];
    const score = ({ answer }: EpisodeView) => void answers.push(answer);
    const turns = { name: 'turns', weight: 0.5, score: (view: EpisodeView) => view.turns.length };
    const { episode } = await play({
      script: echoing(),
      parts: { rewards: [turns, { name: 'seen', weight: 9, score }] },
    });
    expect(episode.reward).toBe(2);
    expect(episode.components).toEqual({ solved: 1, turns: 1 });
    expect(answers).toEqual(['done']);
  });

  test('ends after the last turn without further messages', async () => {
    const { episode, environment, policy } = await play({ script: echoing(9) });
    expect(environment.ends).toEqual(['turn-limit']);
    expect(episode.turns).toBe(4);
    expect(policy.observed).toHaveLength(3);
  });

  test('limits each turn to the remaining tokens, and ends without any', async () => {
    // Prompt 4, turn 3, observation 3: 10 of 12; the second turn may sample 2.
    const setting = { script: echoing(2), limits: { maxEpisodeTokens: 12 } };
    const { policy, environment } = await play(setting);
    expect(policy.maxTokens).toEqual([8, 2]);
    expect(environment.ends).toEqual(['token-limit']);
  });

  test.each(['max-tokens', 'context-full'] as const)('runs no calls after %s', async (stop) => {
    const { episode, environment } = await play({
      script: () => ({ message: says('', ['echo', { text: 'x' }]), stop }),
    });
    expect(environment.ends).toEqual(['token-limit']);
    expect(episode.calls).toEqual([]);
  });

  test('shows messages of the environment after the tool results', async () => {
    const step: Environment['step'] = async ({ index }) => ({
      done: index === 1,
      messages: [user('on')],
    });
    const { policy } = await play({ script: echoing(), environment: { step } });
    expect(policy.observed.map(({ role }) => role)).toEqual(['tool', 'user']);
  });

  const gaveUp = () => ({ message: says(''), stop: 'aborted' as const });
  const fails = (): never => {
    throw new Error('out of order');
  };
  const own = { environmentName: 'own' };
  const silent = { step: async () => ({ done: false }) };
  const failedIn = (method: string) =>
    new RegExp(`^Environment( "own")? failed in ${method} \\(tests.*:\\d+:\\d+\\): out of order$`);
  test.each([
    ['the environment cannot start', { environment: { start: fails } }, failedIn('start')],
    ['the environment cannot step', { environment: { step: fails }, parts: own }, failedIn('step')],
    ['a hidden input is missing', { environment: { toolInputs: fails } }, failedIn('toolInputs')],
    ['the policy cannot act', { script: fails }, 'out of order'],
    ['the prompt leaves no room', { promptTokens: 100 }, 'The prompt has 100 tokens'],
    ['the environment goes silent', { script: calling(), environment: silent }, 'neither ended'],
    ['the generator gives up', { script: gaveUp }, 'aborted a turn'],
  ])('has no reward and names the problem when %s', async (_, setting, problem) => {
    const given = setting as Partial<Setting>;
    const { episode, policy, environment } = await play({ script: echoing(), ...given });
    const outcome = 'infrastructure-error';
    expect(episode).toMatchObject({ outcome, success: false, reward: undefined });
    expect(episode.problem).toMatch(problem);
    expect(environment.ends).toEqual(['aborted']);
    expect(policy.released).toHaveLength(1);
  });

  test('ends the run on an error that would repeat, after releasing its parts', async () => {
    const spent = new AgentRlError('WEB_BUDGET_SPENT', 'Nothing is left.');
    const policy = new ScriptedPolicy(echoing());
    const environment = new ScriptedEnvironment();
    const tool = (): never => {
      throw spent;
    };
    const parts = { policy, world: worldOfOne(environment) };
    await expect(play({ tool, parts })).rejects.toBe(spent);
    expect(environment.ends).toEqual(['aborted']);
    expect(policy.released).toHaveLength(1);
  });

  const blamed = 'grader-error';
  const solved = { outcome: 'completed', reward: 1, components: {}, success: true };
  const failed = 'infrastructure-error';
  const unrewarded = { outcome: failed, reward: undefined, components: {}, success: false };
  test.each([
    ['throws', fails, 'grader-error', 'out of order'],
    ['blames the system', { ...solved, outcome: blamed }, blamed, `reported ${blamed}.`],
    ['has its own problem', { ...unrewarded, problem: 'no answer' }, failed, 'no answer'],
  ] as const)('has no reward when the verdict %s', async (_, given, outcome, problem) => {
    const finish = typeof given === 'function' ? given : async () => given;
    const { episode, environment } = await play({
      environment: { finish: finish as NonNullable<Environment['finish']> },
    });
    expect(episode).toMatchObject({ outcome, success: false, reward: undefined });
    expect(episode.problem).toContain(problem);
    expect(environment.ends).toEqual(['done']);
  });

  test('is aborted without a reward when it is cancelled, even if nothing reacts', async () => {
    const cancelled = new AbortController();
    const { episode } = await play({
      signal: cancelled.signal,
      script: async () => {
        cancelled.abort(new Error('Ctrl-C'));
        return new Promise<never>(() => {});
      },
    });
    expect(episode).toMatchObject({ outcome: 'aborted', reward: undefined, problem: 'Ctrl-C' });
  });

  test('releases its parts whatever happens', async () => {
    let closed = 0;
    const close = async (): Promise<void> => void (closed += 1);
    await play({ parts: { close } });
    await play({ script: fails, parts: { close } });
    expect(closed).toBe(2);
    const policy = Object.assign(new ScriptedPolicy(calling()), { release: fails });
    const { episode } = await play({ parts: { policy, close } });
    expect(closed).toBe(3);
    expect(episode).toMatchObject({ outcome: 'infrastructure-error', problem: 'out of order' });
  });
});
