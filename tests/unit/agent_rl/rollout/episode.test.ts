import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import { TransientError } from '#agent_rl/core/failure.ts';
import { user } from '#agent_rl/core/message.ts';
import { notTimed } from '#agent_rl/core/stopping/work-clock.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { maskOf } from '#agent_rl/core/transcript.ts';
import { runEpisode } from '#agent_rl/rollout/episode.ts';
import type { EpisodeParts } from '#agent_rl/rollout/episode-parts.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, type Script, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

const request = {
  task: { taskId: 't1', prompt: 'a task', metadata: {} },
  sample: 2,
  step: 5,
  seed: 9,
  sampling: unbiased,
};
const echo = {
  name: 'echo',
  description: 'Says it again',
  parameters: Type.Object({ text: Type.String() }),
};
const limits = {
  maxTurns: 4,
  maxEpisodeTokens: 100,
  maxTurnTokens: 10,
  invalidCallLimit: 3,
};

interface Setting {
  script: Script;
  environment?: Partial<Environment>;
  parts?: Partial<EpisodeParts>;
  tool?: (args: { text: string }) => unknown;
  promptTokens?: number;
  signal?: AbortSignal;
}

const play = async (setting: Setting) => {
  const policy = new ScriptedPolicy(setting.script, setting.promptTokens);
  const environment = new ScriptedEnvironment(setting.environment);
  const call = setting.tool ?? (({ text }) => ({ content: text }));
  const parts = {
    policy,
    environment,
    tools: new Map([['echo', { call: async (args: never) => call(args) as never }]]),
    toolRunner: new ToolRunner([echo]),
    rewards: [],
    invalidCallPenalty: 0,
    limits,
    ...setting.parts,
  };
  const signal = setting.signal ?? new AbortController().signal;
  return { policy, environment, trajectory: await runEpisode(() => parts, request, signal) };
};

/** Calls on the first turns what is listed, then answers. */
const calling =
  (...calls: Parameters<typeof says>[1][]): Script =>
  ({ key: { turn } }) => {
    const call = calls[turn];
    return { message: call === undefined ? says('done') : says('', call) };
  };

describe('runEpisode', () => {
  test('plays calls and observations until the environment is done', async () => {
    const { trajectory, policy, environment } = await play({
      script: calling(['echo', { text: 'hi' }]),
    });
    expect(trajectory).toMatchObject({
      taskId: 't1',
      sample: 2,
      step: 5,
      turns: 2,
      outcome: 'completed',
      success: true,
      reward: 1,
      components: { solved: 1 },
      malformedCalls: 0,
    });
    expect(trajectory).not.toHaveProperty('problem');
    expect(policy.observed).toEqual([
      { role: 'tool', name: 'echo', callId: 'call_0_0', content: 'hi' },
    ]);
    expect(environment.ends).toEqual(['done']);
    expect(policy.offered).toEqual([['echo']]);
    expect(policy.released).toHaveLength(1);
  });

  test('shows the policy no secret of the environment, not even one that is cut', async () => {
    process.env['ACME_API_TOKEN'] = 'planted-canary';
    try {
      const { policy, trajectory } = await play({
        script: calling(['echo', { text: 'planted-canary' }]),
        environment: {
          start: async () => [user('a task of planted-canary')],
          step: async ({ calls }) => ({
            done: calls.length === 0,
            messages: [user('planted-canary?')],
          }),
        },
        tool: () => ({ content: `${'x'.repeat(3995)}planted-canary` }),
      });
      expect(JSON.stringify(policy.observed)).not.toContain('plant');
      expect(policy.observed.at(-1)).toEqual(user('[redacted]?'));
      const { messages, calls } = trajectory;
      expect(messages[0]).toEqual(user('a task of [redacted]'));
      expect(calls[0]?.result.content).not.toContain('plant');
    } finally {
      delete process.env['ACME_API_TOKEN'];
    }
  });

  test('keeps every sampled token, with its probability, and nothing else as sampled', async () => {
    const { trajectory } = await play({ script: calling(['echo', { text: 'hi' }]) });
    // Prompt 1-4, turn 100 7 2, tool 50 51, cue 3, turn 101 7 2.
    expect(trajectory.tokens).toEqual([1, 2, 3, 4, 100, 7, 2, 50, 51, 3, 101, 7, 2]);
    expect([...maskOf(trajectory, 'sampled')]).toEqual([0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
    expect(trajectory.logProbs).toEqual([
      0, 0, 0, 0, -1, -0.07, -0.02, 0, 0, 0, -1.01, -0.07, -0.02,
    ]);
  });

  test('runs all calls of a turn in order and answers those it cannot read in their place', async () => {
    const message = {
      ...says('', ['echo', { text: 'first' }]),
      malformedCalls: [{ id: 'call_0_1', text: '{', problem: 'not JSON' }],
    };
    const turn = {
      ...message,
      toolCalls: [
        ...(message.toolCalls ?? []),
        { id: 'call_0_2', name: 'echo', arguments: { text: 'third' } },
      ],
    };
    const { policy, trajectory } = await play({
      script: ({ key }) => ({ message: key.turn === 0 ? turn : says('done') }),
    });
    expect(policy.observed).toEqual([
      { role: 'tool', name: 'echo', callId: 'call_0_0', content: 'first' },
      {
        role: 'tool',
        name: 'unreadable_call',
        callId: 'call_0_1',
        content: 'Error: the call could not be read: not JSON',
      },
      { role: 'tool', name: 'echo', callId: 'call_0_2', content: 'third' },
    ]);
    expect(trajectory.malformedCalls).toBe(1);
    expect(trajectory.calls).toHaveLength(2);
  });

  test('ends at the limit of invalid calls and subtracts their penalty', async () => {
    const { trajectory, environment } = await play({
      script: calling(
        ['ech', {}],
        ['echo', {}],
        ['echo', { text: 1 }],
        ['echo', { text: 'never' }],
      ),
      parts: { invalidCallPenalty: 0.25 },
    });
    expect(environment.ends).toEqual(['invalid-calls']);
    expect(trajectory.turns).toBe(3);
    expect(trajectory.reward).toBe(1 - 3 * 0.25);
    expect(trajectory.components).toEqual({ solved: 1, invalidCalls: -0.75 });
  });

  test('adds weighted rewards, and leaves out one that does not apply', async () => {
    const { trajectory } = await play({
      script: calling(),
      parts: {
        rewards: [
          { name: 'turns', weight: 0.5, score: ({ turns }) => turns.length },
          { name: 'absent', weight: 9, score: () => undefined },
        ],
      },
    });
    expect(trajectory.reward).toBe(1.5);
    expect(trajectory.components).toEqual({ solved: 1, turns: 0.5 });
  });

  test('ends after the last turn without telling the policy more', async () => {
    const again: Script = () => ({ message: says('', ['echo', { text: 'x' }]) });
    const { trajectory, environment, policy } = await play({ script: again });
    expect(environment.ends).toEqual(['turn-limit']);
    expect(trajectory.turns).toBe(4);
    expect(policy.observed).toHaveLength(3);
  });

  test('gives each turn the room that is left, and ends when there is none', async () => {
    // Prompt 4, turn 3, observation 3: 10 of 12; the second turn may sample 2.
    const { policy, environment } = await play({
      script: calling(['echo', { text: 'x' }], ['echo', { text: 'x' }]),
      parts: { limits: { ...limits, maxEpisodeTokens: 12 } },
    });
    expect(policy.maxTokens).toEqual([8, 2]);
    expect(environment.ends).toEqual(['token-limit']);
  });

  test.each(['max-tokens', 'context-full'] as const)(
    'does not act on a turn cut off by %s',
    async (stop) => {
      const { trajectory, environment } = await play({
        script: () => ({ message: says('', ['echo', { text: 'x' }]), stop }),
      });
      expect(environment.ends).toEqual(['token-limit']);
      expect(trajectory.calls).toEqual([]);
    },
  );

  test('passes what the environment says on after the tool results', async () => {
    const { policy } = await play({
      script: calling(['echo', { text: 'x' }]),
      environment: {
        step: async (turn) => ({ done: turn.index === 1, messages: [user('go on')] }),
      },
    });
    expect(policy.observed.map(({ role }) => role)).toEqual(['tool', 'user']);
  });

  const fails = (): never => {
    throw new Error('out of order');
  };
  test.each([
    [
      'the environment cannot start',
      { environment: { start: fails } },
      /^Environment failed in start \(tests.*:\d+:\d+\): out of order$/,
    ],
    [
      'the environment cannot step',
      {
        environment: { step: fails },
        parts: { environmentName: 'own' },
      },
      /^Environment "own" failed in step \(tests.*:\d+:\d+\): out of order$/,
    ],
    [
      'a hidden input cannot be had',
      { environment: { toolInputs: fails } },
      /failed in toolInputs \(tests.*:\d+:\d+\): out of order$/,
    ],
    ['the policy cannot act', { script: fails }, 'out of order'],
    ['the prompt leaves no room', { promptTokens: 100 }, 'The prompt is 100 tokens'],
    [
      'the environment goes silent',
      { script: calling(), environment: { step: async () => ({ done: false }) } },
      'neither ended the episode nor said anything',
    ],
    [
      'the generator gives up',
      { script: () => ({ message: says(''), stop: 'aborted' as const }) },
      'gave up',
    ],
  ])('has no reward and says why when %s', async (_, setting, problem) => {
    const { trajectory, policy, environment } = await play({
      script: calling(['echo', { text: 'x' }]),
      ...(setting as Partial<Setting>),
    });
    expect(trajectory).toMatchObject({
      outcome: 'infrastructure-error',
      success: false,
      reward: undefined,
    });
    expect(trajectory.problem).toMatch(problem);
    expect(environment.ends).toEqual(['aborted']);
    expect(policy.released).toHaveLength(1);
  });

  test('ends the run with what no later episode would do better, after letting go', async () => {
    const spent = new AgentRlError('WEB_BUDGET_SPENT', 'Nothing is left.');
    const policy = new ScriptedPolicy(calling(['echo', { text: 'x' }]));
    const environment = new ScriptedEnvironment();
    const tool = (): never => {
      throw spent;
    };
    const playing = play({
      script: calling(['echo', { text: 'x' }]),
      tool,
      parts: { policy, environment },
    });
    await expect(playing).rejects.toBe(spent);
    expect(environment.ends).toEqual(['aborted']);
    expect(policy.released).toHaveLength(1);
  });

  test('says so when the parts of an episode cannot be made', async () => {
    const trajectory = await runEpisode(fails, request, new AbortController().signal);
    expect(trajectory).toMatchObject({
      outcome: 'infrastructure-error',
      problem: 'out of order',
      tokens: [],
    });
  });

  test.each([
    ['throws', fails],
    [
      'gives no number',
      async () => ({ outcome: 'completed', reward: NaN, components: {}, success: true }),
    ],
  ] as const)('is a grader error when the verdict %s', async (_, verdict) => {
    const finish = verdict as NonNullable<Environment['finish']>;
    const { trajectory, environment } = await play({ script: calling(), environment: { finish } });
    expect(trajectory).toMatchObject({
      outcome: 'grader-error',
      success: false,
      reward: undefined,
    });
    expect(environment.ends).toEqual(['done']);
  });

  test('drops the reward of a verdict that blames the system', async () => {
    const finish = async () =>
      ({ outcome: 'grader-error', reward: 1, components: {}, success: true }) as const;
    const { trajectory } = await play({ script: calling(), environment: { finish } });
    expect(trajectory).toMatchObject({
      outcome: 'grader-error',
      success: false,
      reward: undefined,
      problem: 'The environment judged: grader-error.',
    });
  });

  test("has the environment's own words for what failed", async () => {
    const problem = 'The sandbox failed: nobody answers';
    const none = { reward: undefined, components: {}, success: false };
    const finish = async () => ({ outcome: 'infrastructure-error', ...none, problem }) as const;
    const { trajectory } = await play({ script: calling(), environment: { finish } });
    expect(trajectory).toMatchObject({ outcome: 'infrastructure-error', problem });
  });

  test('is aborted without a reward when it is cancelled, even if nothing reacts', async () => {
    const cancelled = new AbortController();
    const { trajectory } = await play({
      signal: cancelled.signal,
      script: async () => {
        cancelled.abort(new Error('Ctrl-C'));
        return new Promise<never>(() => {});
      },
    });
    expect(trajectory).toMatchObject({ outcome: 'aborted', reward: undefined, problem: 'Ctrl-C' });
  });

  const hangs = async () => new Promise<never>(() => {});
  const deadlines = { environmentS: 0.02, gradingS: 0.02 };
  test.each([
    ['start', { start: hangs }, 'infrastructure-error', 'environmentS'],
    ['step', { step: hangs }, 'infrastructure-error', 'environmentS'],
    ['finish', { finish: hangs }, 'grader-error', 'gradingS'],
  ] as const)(
    'fails when the environment hangs in %s',
    async (_, environment, outcome, setting) => {
      const { trajectory } = await play({
        script: calling(),
        environment,
        parts: { limits: { ...limits, deadlines } },
      });
      expect(trajectory).toMatchObject({
        outcome,
        reward: undefined,
        failure: { owner: 'plugin', retryable: false },
      });
      expect(trajectory.problem).toContain(`longer than 0.02 s`);
      expect(trajectory.problem).toContain(`rollout.deadlines.${setting}`);
    },
  );

  test('is not cut short by slow sampling, nor by a wait for a service of the run', async () => {
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
    const { trajectory } = await play({
      script: async () => {
        await slow();
        return { message: says('done') };
      },
      environment: {
        start: async () => {
          await notTimed(slow);
          return [user('a task')];
        },
      },
      parts: { limits: { ...limits, deadlines } },
    });
    expect(trajectory).toMatchObject({ outcome: 'completed', reward: 1 });
  });

  test('continues after a tool that throws: nobody escapes an episode by breaking a tool', async () => {
    const { trajectory, policy } = await play({
      script: calling(['echo', { text: 'x' }]),
      tool: fails,
    });
    expect(trajectory).toMatchObject({ outcome: 'completed', reward: 1 });
    expect(trajectory.calls[0]).toMatchObject({
      status: 'error',
      problem: expect.stringMatching(/^Tool "echo" failed \(tests.*:\d+:\d+\): out of order$/),
    });
    // What the tool threw may quote what is hidden.
    expect(policy.observed[0]).toMatchObject({ content: 'Error: echo failed on this call.' });
  });

  test('calls a tool again whose failure may pass, and says so', async () => {
    let calls = 0;
    const { trajectory } = await play({
      script: calling(['echo', { text: 'x' }]),
      tool: ({ text }) => {
        calls += 1;
        if (calls === 1) throw new TransientError('busy');
        return { content: text };
      },
      parts: { limits: { ...limits, retries: 2 } },
    });
    expect(trajectory).toMatchObject({ outcome: 'completed', calls: [{ status: 'ok' }] });
    expect(trajectory.retries).toEqual([expect.stringContaining('busy')]);
  });

  test('has no reward when what may pass does not', async () => {
    const { trajectory } = await play({
      script: calling(['echo', { text: 'x' }]),
      tool: () => {
        throw new TransientError('busy');
      },
      parts: { limits: { ...limits, retries: 1 } },
    });
    expect(trajectory).toMatchObject({
      outcome: 'infrastructure-error',
      reward: undefined,
      failure: { owner: 'host', retryable: false },
    });
    expect(trajectory.problem).toContain('(after 2 attempts)');
  });

  test('is played again under its key when its start fails for a reason that may pass', async () => {
    const seen: unknown[] = [];
    const retries = { count: 2, outcomes: ['infrastructure-error'] as const };
    const parts = (): EpisodeParts => {
      seen.push(1);
      if (seen.length < 3) throw new TransientError('no machine is free');
      return {
        policy: new ScriptedPolicy(calling()),
        environment: new ScriptedEnvironment(),
        tools: new Map(),
        toolRunner: new ToolRunner([]),
        rewards: [],
        invalidCallPenalty: 0,
        limits,
      };
    };
    const signal = new AbortController().signal;
    const trajectory = await runEpisode(parts, request, signal, retries);
    expect(trajectory).toMatchObject({ outcome: 'completed', reward: 1 });
    expect(trajectory.failedAttempts).toHaveLength(2);
    expect(trajectory.failedAttempts?.[0]).toMatchObject({
      problem: 'no machine is free',
      failure: { owner: 'host', retryable: true },
    });
  });

  test('keeps no more of a long tool result than maxEpisodeTokens has room for, and ends', async () => {
    // Prompt 4, turn 3, observation 3: with room for 8, two tokens of the observation are left out.
    const { trajectory, environment } = await play({
      script: calling(['echo', { text: 'x' }], ['echo', { text: 'x' }]),
      parts: { limits: { ...limits, maxEpisodeTokens: 8 } },
    });
    expect(environment.ends).toEqual(['token-limit']);
    expect(trajectory.tokens).toEqual([1, 2, 3, 4, 100, 7, 2, 50]);
    expect(trajectory.logProbs).toHaveLength(8);
    expect(trajectory.cutTokens).toBe(2);
  });

  test.each([
    [{ outcome: 'banana' }, /verdict.outcome is "banana"; expected one of completed,/],
    [
      { reward: 1e308 },
      /verdict.reward is 1e\+308; expected a number between -1000000 and 1000000/,
    ],
    [{ reward: undefined }, /verdict.reward is nothing/],
    [{ success: 'yes' }, /verdict.success is "yes"; expected true or false/],
    [{ components: { parts: '1' } }, /verdict.components.parts is "1"; expected a finite number/],
    [{ metrics: { share: NaN } }, /verdict.metrics.share is NaN/],
  ])('trains on no verdict such as %j', async (wrong, problem) => {
    const right = { outcome: 'completed', reward: 1, components: {}, success: true };
    const finish = async () => ({ ...right, ...wrong }) as never;
    const { trajectory } = await play({ script: calling(), environment: { finish } });
    expect(trajectory).toMatchObject({ outcome: 'grader-error', reward: undefined });
    expect(trajectory.problem).toMatch(problem);
  });

  test('lets go of its parts whatever happens', async () => {
    let closed = 0;
    const close = async (): Promise<void> => void (closed += 1);
    await play({ script: calling(), parts: { close } });
    await play({ script: fails, parts: { close } });
    expect(closed).toBe(2);
    const policy = new ScriptedPolicy(calling());
    policy.release = fails;
    const { trajectory } = await play({ script: calling(), parts: { policy, close } });
    expect(closed).toBe(3);
    expect(trajectory).toMatchObject({ outcome: 'infrastructure-error', problem: 'out of order' });
  });

  test('keeps a secret of the environment out of the problem', async () => {
    process.env['PLANTED_API_KEY'] = 'sk-planted-123456';
    const leak = (): never => {
      throw new Error('401 for key sk-planted-123456');
    };
    const { trajectory } = await play({ script: leak });
    delete process.env['PLANTED_API_KEY'];
    expect(trajectory.problem).toBe('401 for key [redacted]');
  });
});
