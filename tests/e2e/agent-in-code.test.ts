import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import {
  defineTool,
  evaluateAgent,
  loadAgent,
  trainAgent,
  type TrainingEvent,
} from '#agent_rl/index.ts';
import { modelResolvers } from '#agent_rl/compose/model/resolve-model.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { train } from '#agent_rl/jobs/train/train.ts';
import {
  environment,
  type Environment,
  type Task,
  type Verdict,
  type AgentContext,
} from '#agent_rl/plugin.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';
import { episodesIn } from '../support/journal.ts';
import { ownLoop } from '../support/own-loops.ts';

/** Ends after one turn; nothing is earned but by the reward of the program. */
class OneTurn implements Environment {
  constructor(private readonly given: { task: Task }) {}
  async start() {
    return [{ role: 'user' as const, content: this.given.task.prompt }];
  }
  async step() {
    return { done: true };
  }
  async finish(): Promise<Verdict> {
    return { outcome: 'wrong-answer', reward: 0, components: {}, success: false };
  }
}
environment({
  name: 'one-turn',
  description: 'One turn.',
  settings: Type.Object({}),
  taskFormat: 'plain',
})(OneTurn);

const folder = temporaryFolder();
const model = join(folder, 'model');
const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: Type.Object({ a: Type.Number(), b: Type.Number() }),
  execute: ({ a, b }) => a + b,
});
const tasks = Array.from({ length: 12 }, (_, i) => ({ prompt: `What is ${i} + 1?` }));

const parts = {
  model,
  environment: OneTurn,
  tools: [add],
  // Of the text alone, so that a group has a spread.
  reward: ({ messages }: { messages: readonly { content: string }[] }) =>
    (messages.at(-1)?.content.length ?? 0) % 3,
  policy: { maxTurnTokens: 8, maxContextTokens: 512 },
  rollout: { tasksPerStep: 2, groupSize: 2, workers: 2, maxTurns: 1, maxEpisodeTokens: 512 },
  train: { iterations: 2, learningRate: 0.01 },
  checkpoint: { every: 0 },
  run: { outputDir: join(folder, 'runs'), engineThreads: 1, seed: 3 },
};

beforeAll(() => writeSmallModel(model));

describe('An agent written in code', () => {
  const events: TrainingEvent[] = [];
  let summary: Readonly<Record<string, unknown>> = {};
  const printed: string[] = [];

  beforeAll(async () => {
    const training = trainAgent({ ...parts, tasks, print: (text) => printed.push(text) });
    for await (const event of training) events.push(event);
    summary = await training;
  });

  test('trains as a run like any other, with its tasks in the run folder', () => {
    const run = summary['run'] as string;
    expect(run).toBe(join(folder, 'runs', 'trainAgent-seed3'));
    const config = readFileSync(join(run, 'config.yaml'), 'utf8');
    expect(config).toMatch(/type: one-turn/);
    expect(config).toMatch(/type: add/);
    const [dir = ''] = /(?<=dir: ).*/.exec(config) ?? [];
    expect(existsSync(join(dir, 'eval.jsonl'))).toBe(true);
    expect(printed.join('\n')).toMatch(/Note: evalTasks was not given: 1 of 12 tasks/);
  });

  test('emits its events in order', () => {
    const kinds = events.map(({ type }) => type);
    const few = kinds.filter((type) => type !== 'phase' && !type.endsWith('rollout'));
    expect(few.join(' ')).toBe(
      'start evaluation iteration iteration checkpoint evaluation summary end',
    );
    expect(kinds.filter((type) => type === 'rollout')).toHaveLength(8);
  });

  test('can be evaluated on the tasks of its run or on other tasks', async () => {
    const { run } = summary as { run: string };
    const { tools, reward, environment: own } = parts;
    const again = { tools, reward, environment: own };
    expect(await evaluateAgent(run, again)).toMatchObject({ tasks: 1, successRate: 0 });
    expect(await evaluateAgent(run, { ...again, tasks: tasks.slice(0, 3) })).toMatchObject({
      tasks: 3,
    });
  });

  test('gives the same answer to the same seed after it is loaded', async () => {
    const { run } = summary as { run: string };
    const agent = await loadAgent(run, { tools: [add] });
    try {
      const [one, same, other] = await Promise.all([
        agent.ask('What is 2 + 1?'),
        agent.ask('What is 2 + 1?'),
        agent.ask('What is 2 + 1?', { seed: 1 }),
      ]);
      const tokensOf = ({ rollout }: typeof one) =>
        rollout.parts.map(({ sequences }) => sequences.map(({ tokens }) => tokens));
      expect(tokensOf(same)).toEqual(tokensOf(one));
      expect(tokensOf(other)).not.toEqual(tokensOf(one));
      const more = [...one.messages, { role: 'user' as const, content: 'And 3 + 1?' }];
      const { messages } = await agent.ask(more);
      expect(messages.slice(0, more.length)).toEqual(more);
    } finally {
      await agent.close();
    }
  });
});

test('the loop over the events throws when the run fails', async () => {
  const reading = (async () => {
    for await (const _ of trainAgent({ ...parts, tasks: [] })) continue;
  })();
  expect(await rejectionOf(reading)).toMatchObject({ code: 'DATASET_INVALID' });
});

test('a training run resolves its weights, text folder and model description once each', async () => {
  const counts = new Map<string, number>();
  const counting = Object.entries(modelResolvers).map(([name, resolver]) => {
    const counted = (...args: unknown[]) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return (resolver as (...given: unknown[]) => unknown)(...args);
    };
    return [name, counted] as const;
  });
  const sizes = 'rollout.tasksPerStep=1 rollout.groupSize=2 policy.maxTurnTokens=16';
  const short = 'eval.before=false eval.after=false train.iterations=1 run.logLevel=error';
  const prepared = await prepareRun({
    file: join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
    overrides: `${sizes} ${short} algorithm.microBatchTokens=512`.split(' '),
    flags: [{ source: 'test', path: 'run.outputDir', value: join(folder, 'once') }],
  });
  const job = {
    ...prepared,
    signal: new AbortController().signal,
    print: () => undefined,
    dryRun: false,
    resolvers: Object.fromEntries(counting) as typeof modelResolvers,
  };
  expect(await train(job)).toMatchObject({ iterations: 1 });
  expect(Object.fromEntries(counts)).toEqual({
    localLayers: 1,
    describeLayers: 1,
    textFolder: 1,
    openLanguageModelFolder: 1,
  });
});

async function ask({
  task,
  fetch,
  baseURL,
  signal,
}: Pick<AgentContext, 'task' | 'fetch' | 'baseURL' | 'signal'>) {
  const messages = [{ role: 'user', content: task.prompt }];
  const body = JSON.stringify({ model: 'any', messages });
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', body, headers, signal };
  const response = await fetch(`${baseURL}/chat/completions`, request);
  const answer = (await response.json()) as { choices?: { message: { content: string } }[] };
  if (answer.choices === undefined) throw new Error(JSON.stringify(answer));
  return answer.choices[0]?.message.content;
}

/** Fails unless each episode was played to its end; how many there were. */
async function playedWhole(run: unknown): Promise<number> {
  const episodes = await episodesIn(String(run), 'train');
  for (const { outcome, problem } of episodes) {
    expect(problem ?? '').toBe('');
    expect(outcome).not.toMatch(/failed|error/);
  }
  return episodes.length;
}

describe('An agent with a loop of its own', () => {
  const rows = Array.from({ length: 12 }, (_, i) => `What is ${i} + 1?,${i + 1}`);
  const questions = writeBelow(folder, 'questions.csv', `prompt,answer\n${rows.join('\n')}\n`);
  const { policy, rollout, checkpoint, run: place } = parts;
  // Of the text alone, so that a group has a spread.
  const reward = ({ answer }: { answer?: unknown }) => String(answer).length % 3;
  const common = {
    model,
    policy,
    rollout,
    train: parts.train,
    checkpoint,
    tasks: questions,
    reward,
  };
  const runOf = (name: string) => ({ ...place, name });
  let weights: unknown;

  test('is trained, evaluated and asked when a program passes it', async () => {
    const summary = await trainAgent({ ...common, agent: ask, run: runOf('code') });
    const run = summary['run'] as string;
    expect(summary).toMatchObject({ iterations: 2 });
    weights = summary['weightsSha256'];
    await playedWhole(run);
    expect(await rejectionOf(evaluateAgent(run, { reward }))).toMatchObject(
      errorOf('PLUGIN_UNKNOWN', '{ agent }'),
    );
    expect(await evaluateAgent(run, { agent: ask, reward, tasks: questions })).toHaveProperty(
      'successRate',
    );
    await using agent = await loadAgent(run, {
      agent: async (context) => `said: ${await ask(context)}`,
    });
    const { text } = await agent.ask('What is 1 + 1?');
    expect(text).toMatch(/^said: /);
  }, 120_000);

  test.each([
    ['a file', { agent: ownLoop('asking.mjs') }],
    ['a program in Python', { command: ['python3', ownLoop('agent.py')] }],
  ])(
    'is trained when it is %s',
    async (name, agent) => {
      const summary = await trainAgent({
        ...common,
        environment: { type: 'external', match: 'rewards', ...agent },
        run: runOf(name.replaceAll(' ', '-')),
      });
      // Wherever it runs, the same agent gives the same run.
      expect(summary['weightsSha256']).toBe(weights);
      expect(await playedWhole(summary['run'])).toBe(8);
    },
    120_000,
  );
});
