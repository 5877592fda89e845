import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { converse } from '#agent_rl/jobs/play/conversation.ts';
import { evaluateSeveral } from '#agent_rl/jobs/play/evaluate-several.ts';
import { type EvaluatedModel, modelsTable } from '#agent_rl/jobs/play/models-table.ts';
import type { EpisodeMaker } from '#agent_rl/rollout/episode-parts.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { worldOfOne } from '#agent_rl/rollout/world.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { compare } from '#agent_rl/trainer/success-rate.ts';
import { played } from '#tests/support/rollouts.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { says, type Script, ScriptedPolicy } from '#tests/support/scripted-policy.ts';
import { ScriptedRollouts } from '#tests/support/scripted-rollouts.ts';
import { errorOf, expectRejection, rejectionOf } from '#tests/support/thrown.ts';

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
    const anew = 'A new conversation.';
    expect(shown).toEqual([anew, 'I heard One..', anew, 'I heard Two..']);
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

/** Prepared as the command does, and asked to compare some models. */
async function refusal(overrides: readonly string[], checkpoints: readonly string[]) {
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides,
  });
  const { signal } = new AbortController();
  return rejectionOf(evaluateSeveral({ ...prepared, signal, print: () => undefined, checkpoints }));
}

const starter = join(packageRoot(), 'model', 'starter');

test('models are not compared on replayed tokens, and a model is not compared with itself', async () => {
  const replay = ['generator.type=replay', 'generator.run=runs/recorded'];
  const other = join(starter, '..', 'search-starter');
  expect(await refusal(replay, [starter, other])).toMatchObject(
    errorOf('CONFIG_INVALID', 'gives every model the tokens of the recorded run'),
  );
  // However it is named.
  expect(await refusal([], [starter, join(starter, '..', 'starter')])).toMatchObject(
    errorOf('CONFIG_INVALID', 'are the same model'),
  );
});

const tasks = ['a', 'b', 'c', 'd'].map((taskId) => ({ taskId, prompt: '', metadata: {} }));

/** A model that solves a task in its first attempts. */
async function model(name: string, solved: number, samples: number): Promise<EvaluatedModel> {
  const rollouts = new ScriptedRollouts(({ task, key: { sample } }) =>
    played({ reward: task.taskId !== 'd' && sample < solved ? 1 : 0 }),
  );
  const { rollouts: _, ...evaluation } = await evaluate(rollouts, tasks, {
    samples,
    temperature: 1,
    seed: 1,
    step: 0,
    signal: new AbortController().signal,
  });
  return { name, evaluation, callsMean: 2, sampledTokensMean: 31.25 };
}

const cells = (line = '') => line.trim().split(/ {2,}/);

test('the table has a row for each model with the change from the first, task by task', async () => {
  const [first, second] = [await model('base', 0, 2), await model('trained', 1, 2)];
  const difference = compare(first.evaluation.perTask, second.evaluation.perTask, 1)!;
  const [head, base, trained] = modelsTable([first, { ...second, difference }]).split('\n');
  const columns = 'model|success|pass@2|avg@2|calls|tokens|change, points';
  expect(cells(head).join('|')).toBe(columns);
  expect(cells(base).join('|')).toMatch(/^base\|0 of 8 = 0\.0 % \[0\.0, .*\|-$/);
  // Three of four tasks are solved in one of two attempts.
  const [name, success, pass, avg, calls, tokens, change] = cells(trained);
  expect([name, calls, tokens]).toEqual(['trained', '2.0', '31.3']);
  expect(success).toMatch(/^3 of 8 = 37\.5 % \[/);
  expect(pass).toMatch(/^75\.0 % \[/);
  expect(avg).toMatch(/^37\.5 % \[/);
  expect(change).toMatch(/^\+37\.5 \[\+\d+\.\d, \+50\.0\]$/);
});

test('the table of tasks attempted once has no pass@k', async () => {
  expect(modelsTable([await model('base', 1, 1)])).not.toContain('@');
});
