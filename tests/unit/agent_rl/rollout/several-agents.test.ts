import { describe, expect, test } from '@jest/globals';

import { user } from '#agent_rl/core/message.ts';
import type { Verdict } from '#agent_rl/core/plugins/environment.ts';
import type { ActOptions } from '#agent_rl/core/plugins/policy.ts';
import type { EpisodeView } from '#agent_rl/core/plugins/reward.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { ActiveRequest } from '#agent_rl/generation/slot.ts';
import { runEpisode } from '#agent_rl/rollout/run-episode.ts';
import { sampledTokens } from '#agent_rl/core/rollout.ts';
import { limits, play, request } from '#tests/support/play-episode.ts';
import { says, type Script, ScriptedPolicy } from '#tests/support/scripted-policy.ts';
import { named, playDuet, verdictOf } from '#tests/support/two-players.ts';

const turnsOfBoth = ['speaker 0', 'guesser 0', 'speaker 1', 'guesser 1'];

describe('A multi-agent episode', () => {
  test('shows each agent only its own messages, and judges it separately', async () => {
    const { speaker, guesser, environment } = await playDuet();
    const heard = [user('The word is sea.'), says('speaker 0'), user('guesser 0')];
    expect(speaker.messages).toEqual([...heard, says('speaker 1')]);
    const guessed = [user('speaker 0'), says('guesser 0'), user('speaker 1')];
    expect(guesser.messages).toEqual([...guessed, says('guesser 1')]);
    expect(speaker).toMatchObject({ agent: 'speaker', reward: 0.5, turns: 2, policy: 'policy' });
    expect(guesser).toMatchObject({ agent: 'guesser', reward: 1, turns: 2 });
    expect(environment.seen.map(({ agent, index }) => `${agent} ${index}`)).toEqual(turnsOfBoth);
    expect(environment.ends).toEqual([['done', 'guesser']]);
  });

  test('has a transcript per agent with its own samples only', async () => {
    const { speaker, guesser } = await playDuet();
    // Four tokens of a prompt, three sampled, two observed and a cue, three sampled.
    for (const { sequences } of [speaker, guesser])
      expect(sequences.map(({ tokens }) => tokens)).toEqual([
        [1, 2, 3, 4, 100, 7, 2, 50, 51, 3, 101, 7, 2],
      ]);
    expect(sampledTokens(speaker)).toBe(6);
  });

  test('keys samples by agent, and keeps one context at a time', async () => {
    const asked: Pick<ActOptions, 'key' | 'episode'>[] = [];
    const script: Script = (options, heard) => {
      asked.push(options);
      return named(options, heard);
    };
    const { policy } = await playDuet({ script });
    expect(asked.map(({ key }) => `${key.agent} ${key.turn}`)).toEqual(turnsOfBoth);
    const names = asked.map(({ episode }) => episode);
    expect(new Set(names).size).toBe(4);
    // Each is let go before the next agent takes a row of the cache.
    expect(policy.released).toEqual(names);
  });

  test('lets another policy play an agent, with separate prompts, samples and release', async () => {
    const opponent = new ScriptedPolicy(() => ({ message: says('frozen') }), 6);
    const parts = { others: new Map([['other', opponent]]) };
    const players = { guesser: 'other' };
    const { policy, speaker, guesser } = await playDuet({ parts, players });
    expect(speaker.messages[2]).toEqual(user('frozen'));
    // Its own prompt of six tokens.
    expect(guesser.sequences[0]?.tokens.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6]);
    const released = [policy, opponent].map((one) => one.released.map((name) => name.slice(-9)));
    expect(released.flat()).toEqual(['speaker/0', 'speaker/1', 'guesser/0', 'guesser/1']);
  });

  test('uses different random numbers per agent, and unchanged ones for a single agent', () => {
    const uniform = (agent?: string): number => {
      const key = { seed: 1, taskId: 't', sample: 0, turn: 0, ...(agent && { agent }) };
      const asked = { episode: 'e', tokens: [1], maxTokens: 1, stopTokens: [], sampling: unbiased };
      const ignored = { resolve: () => {}, reject: () => {} };
      return new ActiveRequest({ ...asked, key }, undefined, ignored).uniform;
    };
    expect(new Set([uniform(), uniform('speaker'), uniform('guesser')]).size).toBe(3);
    expect(uniform('speaker')).toBe(uniform('speaker'));
  });

  test("ends for all agents at one agent's limit of turns, tokens or invalid calls", async () => {
    const turns = await playDuet({ parts: { limits: { ...limits, maxTurns: 1 } } });
    expect(turns.environment.ends).toEqual([['turn-limit', 'guesser']]);
    expect([turns.speaker.turns, turns.guesser.turns]).toEqual([1, 1]);
    const long: Script = ({ key: { agent } }) => ({
      message: says('so long'),
      stop: agent === 'guesser' ? 'max-tokens' : 'end-of-turn',
    });
    const tokens = await playDuet({ script: long });
    expect(tokens.environment.ends).toEqual([['token-limit', 'guesser']]);
    const script: Script = ({ key: { agent } }) => ({
      message: agent === 'speaker' ? says('') : says('', ['none', {}]),
    });
    const one = { limits: { ...limits, invalidCallLimit: 1 } };
    const invalid = await playDuet({ script, parts: one });
    expect(invalid.environment.ends).toEqual([['invalid-calls', 'guesser']]);
  });

  test('fails for all agents if the generator fails for one', async () => {
    const { rollout, speaker, guesser, environment } = await playDuet({
      script: (options, heard) => {
        if (options.key.agent === 'guesser') throw new Error('no memory');
        return named(options, heard);
      },
    });
    for (const one of [speaker, guesser]) {
      expect(one.outcome).toBe('infrastructure-error');
      expect(one.reward).toBeUndefined();
    }
    expect(rollout).toMatchObject({ outcome: 'infrastructure-error', problem: 'no memory' });
    // What was sampled before is still there to be booked.
    expect([sampledTokens(speaker), sampledTokens(guesser)]).toEqual([3, 0]);
    expect(environment.ends).toEqual([['aborted', 'guesser']]);
  });

  test('fails for all agents if one verdict is a system failure, missing or invalid', async () => {
    const judged = (wrong?: Partial<Verdict>) => {
      const guesser = wrong && { guesser: { ...verdictOf(1), ...wrong } };
      const finish = async () => ({ speaker: verdictOf(1), ...guesser });
      return playDuet({ environment: { finish } });
    };
    const failed = await judged({ outcome: 'grader-error', problem: 'no judge' });
    expect([failed.speaker.reward, failed.guesser.reward]).toEqual([undefined, undefined]);
    expect(failed.speaker.outcome).toBe('grader-error');
    expect(failed.rollout).toMatchObject({ outcome: 'grader-error', problem: 'no judge' });
    expect((await judged()).rollout.problem).toContain('The verdict for guesser');
    const banana = await judged({ outcome: 'banana' as never });
    expect(banana.rollout.problem).toContain('verdict of guesser.outcome is "banana"');
  });

  test.each([
    ['start', { conversations: {}, first: 'judge' }, 'first is "judge"'],
    ['start', { conversations: {}, first: 'guesser' }, 'sent no message to guesser'],
    ['step', { done: false, next: 'judge' }, 'next is "judge"'],
    ['step', { done: false, next: 'guesser' }, 'sent no message to guesser'],
    ['step', { done: false }, 'neither ended the episode nor'],
    ['step', { done: false, tell: { judge: [user('?')] } }, 'an agent in tell is "judge"'],
  ])('names an invalid answer of the environment in %s: %j', async (method, answer, problem) => {
    const { rollout, guesser } = await playDuet({ environment: { [method]: async () => answer } });
    expect(rollout.problem).toContain(problem);
    expect(guesser.outcome).toBe('infrastructure-error');
  });

  test('has a part for each agent if its environment cannot be created', async () => {
    const agent = (name: string) => ({ name, learns: true, policy: 'policy' });
    const fails = (): never => {
      throw new Error('no sandbox');
    };
    const make = Object.assign(fails, { agentsOf: () => ['speaker', 'guesser'].map(agent) });
    const { problem, parts } = await runEpisode(make, request, new AbortController().signal);
    expect(problem).toBe('no sandbox');
    const outcome = 'infrastructure-error';
    expect(parts.map((one) => one.agent)).toEqual(['speaker', 'guesser']);
    expect(parts).toMatchObject([{ outcome }, { outcome }]);
  });

  test('marks the part of an agent that does not learn', async () => {
    const { speaker, guesser } = await playDuet({ learns: { guesser: false } });
    expect([speaker.learns, guesser.learns]).toEqual([true, false]);
  });

  test('shows each reward the agent of the part', async () => {
    const score = ({ agent, turns }: EpisodeView) =>
      agent === 'speaker' ? turns.length : undefined;
    const parts = { rewards: [{ name: 'brief', weight: 2, score }] };
    const { speaker, guesser } = await playDuet({ parts });
    expect([speaker.reward, guesser.reward]).toEqual([0.5 + 2 * 2, 1]);
  });
});

test('a single-agent episode omits the agent from keys', async () => {
  const keys: object[] = [];
  const { episode, policy } = await play({
    script: ({ key, episode: name }) => {
      keys.push({ ...key, episode: name });
      return { message: says('done') };
    },
  });
  expect(keys).toEqual([{ seed: 9, taskId: 't1', sample: 2, turn: 0, episode: '9/5/t1/2' }]);
  expect(policy.released).toEqual(['9/5/t1/2']);
  expect(episode.agent).toBe('policy');
});
