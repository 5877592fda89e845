import { describe, expect, test } from '@jest/globals';

import { AgentFailure, TransientError } from '#agent_rl/core/failure.ts';
import { user } from '#agent_rl/core/message.ts';
import { unjudged, verdict } from '#agent_rl/core/plugins/verdict.ts';
import { notTimed } from '#agent_rl/core/stopping/work-clock.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import type { Environment } from '#agent_rl/core/plugins/environment.ts';
import type { EpisodeParts } from '#agent_rl/rollout/episode-parts.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { calling, echoing, limits, play, request } from '#tests/support/play-episode.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

const { signal } = new AbortController();
/** A failure of an agent or of its server, which may pass. */
const passing = { owner: 'plugin', retryable: true };
const partsWith = (environment: Partial<Environment>): EpisodeParts => ({
  policy: new ScriptedPolicy(calling()),
  world: worldOfOne(new ScriptedEnvironment(environment)),
  tools: new Map(),
  toolRunner: new ToolRunner([]),
  rewards: [],
  invalidCallPenalty: 0,
  limits,
});
const fails = (): never => {
  throw new Error('out of order');
};

describe('An episode with a failure', () => {
  const hangs = async () => new Promise<never>(() => {});
  const deadlines = { environmentS: 0.02, gradingS: 0.02 };
  test.each([
    ['start', { start: hangs }, 'infrastructure-error', 'environmentS'],
    ['step', { step: hangs }, 'infrastructure-error', 'environmentS'],
    ['finish', { finish: hangs }, 'grader-error', 'gradingS'],
  ] as const)('fails if the environment hangs in %s', async (_, environment, outcome, setting) => {
    const { episode } = await play({ environment, limits: { deadlines } });
    const failure = { owner: 'plugin', retryable: false };
    expect(episode).toMatchObject({ outcome, reward: undefined, failure });
    expect(episode.problem).toContain(`longer than 0.02 s`);
    expect(episode.problem).toContain(`rollout.deadlines.${setting}`);
  });

  test('is not ended by slow sampling or a wait for a service', async () => {
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
    const { episode } = await play({
      script: async () => slow().then(() => ({ message: says('done') })),
      environment: { start: async () => notTimed(slow).then(() => [user('a task')]) },
      limits: { deadlines },
    });
    expect(episode).toMatchObject({ outcome: 'completed', reward: 1 });
  });

  test('continues after a tool throws, so that breaking a tool is no escape', async () => {
    const { episode, policy } = await play({ script: echoing(), tool: fails });
    const problem = /^Tool "echo" failed \(tests.*:\d+:\d+\): out of order$/;
    expect(episode).toMatchObject({ outcome: 'completed', reward: 1 });
    const call = { status: 'error', problem: expect.stringMatching(problem) };
    expect(episode.calls).toMatchObject([call]);
    // What the tool threw may quote what is hidden.
    expect(policy.observed[0]).toMatchObject({ content: 'Error: echo failed on this call.' });
  });

  test('retries a tool after a temporary failure, and records it', async () => {
    let calls = 0;
    const { episode } = await play({
      script: echoing(),
      tool: ({ text }) => {
        calls += 1;
        if (calls === 1) throw new TransientError('busy');
        return { content: text };
      },
      limits: { retries: 2 },
    });
    expect(episode).toMatchObject({ outcome: 'completed', calls: [{ status: 'ok' }] });
    expect(episode.retries).toEqual([expect.stringContaining('busy')]);
  });

  test('has no reward if a temporary failure persists', async () => {
    const { episode } = await play({
      script: echoing(),
      tool: () => {
        throw new TransientError('busy');
      },
      limits: { retries: 1 },
    });
    const failure = { owner: 'host', retryable: false };
    expect(episode).toMatchObject({ outcome: 'infrastructure-error', reward: undefined, failure });
    expect(episode.problem).toContain('(after 2 attempts)');
  });

  test('is retried under its key if its start fails temporarily', async () => {
    const seen: unknown[] = [];
    const retries = { count: 2, outcomes: ['infrastructure-error'] as const };
    const parts = (): EpisodeParts => {
      seen.push(1);
      if (seen.length < 3) throw new TransientError('no machine is free');
      return partsWith({});
    };
    const rollout = await runEpisode(parts, request, signal, { retries });
    expect(rollout).toMatchObject({ outcome: 'completed', parts: [{ reward: 1 }] });
    const failure = { owner: 'host', retryable: true };
    const failed = { problem: 'no machine is free', failure };
    expect(rollout.failedAttempts).toMatchObject([failed, failed]);
  });

  const methods = ['start', 'step'] as const;
  test.each(methods)(
    'is retried if its agent failed in %s, as agent-failed at last',
    async (method) => {
      const failing = async () => {
        throw new AgentFailure('exit code 3');
      };
      const retries = { count: 1, outcomes: ['agent-failed'] as const };
      let made = 0;
      const once = () => partsWith(made++ === 0 ? { [method]: failing } : {});
      const recovered = await runEpisode(once, request, signal, { retries });
      const failed = { outcome: 'agent-failed', failure: passing };
      expect(recovered).toMatchObject({ outcome: 'completed', failedAttempts: [failed] });
      const always = () => partsWith({ [method]: failing });
      const ended = await runEpisode(always, request, signal, { retries });
      expect(ended).toMatchObject({
        outcome: 'agent-failed',
        problem: expect.stringContaining('exit code 3'),
        parts: [{ reward: undefined, success: false }],
        failedAttempts: [{ outcome: 'agent-failed' }],
      });
    },
  );

  test('ends as agent-failed if it cannot be created because its agent failed', async () => {
    const make = () => {
      throw new AgentFailure('no such program');
    };
    const ended = await runEpisode(make, request, signal);
    expect(ended).toMatchObject({ outcome: 'agent-failed', failure: passing });
  });

  test('may be temporary if the environment reports agent-failed', async () => {
    const { episode } = await play({
      environment: { finish: async () => unjudged('agent-failed', { problem: 'it hung' }) },
    });
    const failed = { outcome: 'agent-failed', reward: undefined, problem: 'it hung' };
    expect(episode).toMatchObject({ ...failed, failure: passing });
  });

  test('has a real reward if its agent threw because of the model, and other rewards pay nothing', async () => {
    const ofModel = verdict('agent-error', { success: false, components: {} });
    const { episode } = await play({
      environment: { finish: async () => ofModel },
      parts: { rewards: [{ name: 'generous', weight: 2, score: () => 1 }] },
    });
    expect(episode).toMatchObject({ outcome: 'agent-error', reward: 0, unpaid: { generous: 1 } });
    expect(episode.failure).toBeUndefined();
  });

  test('keeps no more of a long tool result than maxEpisodeTokens has room for, and ends', async () => {
    // Prompt 4, turn 3, observation 3: with room for 8, two tokens of the observation are left out.
    const setting = { script: echoing(2), limits: { maxEpisodeTokens: 8 } };
    const { episode, environment } = await play(setting);
    expect(environment.ends).toEqual(['token-limit']);
    expect(episode.sequences[0]?.tokens).toEqual([1, 2, 3, 4, 100, 7, 2, 50]);
    expect(episode.sequences[0]?.logProbs).toHaveLength(8);
    expect(episode.cutTokens).toBe(2);
  });

  test.each([
    [{ outcome: 'banana' }, /verdict.outcome is "banana"; expected one of completed,/],
    [{ reward: 1e308 }, /verdict.reward is 1e\+308; expected a number between -1000000 and/],
    [{ reward: undefined }, /verdict.reward is nothing/],
    [{ components: { parts: '1' } }, /verdict.components.parts is "1"; expected a finite number/],
  ])('has no reward with an invalid verdict such as %j', async (wrong, problem) => {
    const right = { outcome: 'completed', reward: 1, components: {}, success: true };
    const finish = async () => ({ ...right, ...wrong }) as never;
    const { episode } = await play({ environment: { finish } });
    const failure = { owner: 'plugin', retryable: false };
    expect(episode).toMatchObject({ outcome: 'grader-error', reward: undefined, failure });
    expect(episode.problem).toMatch(problem);
  });
});
