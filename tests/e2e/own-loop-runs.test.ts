import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { evaluateAgent, loadAgent, trainAgent } from '#agent_rl/index.ts';
import type { AgentContext } from '#agent_rl/plugin.ts';
import { readLines } from '../support/acme-project.ts';
import { ownLoop } from '../support/own-loops.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

const folder = temporaryFolder();
const model = join(folder, 'model');
const rows = Array.from({ length: 12 }, (_, i) => `What is ${i} + 1?,${i + 1}`);
const tasks = writeBelow(folder, 'questions.csv', `prompt,answer\n${rows.join('\n')}\n`);

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

const parts = {
  model,
  policy: { maxTurnTokens: 8, maxContextTokens: 512 },
  rollout: { tasksPerStep: 2, groupSize: 2, workers: 2, maxEpisodeTokens: 512 },
  train: { iterations: 2, learningRate: 0.01 },
  checkpoint: { every: 0 },
};
const runOf = (name: string) => ({
  outputDir: join(folder, 'runs'),
  name,
  engineThreads: 1,
  seed: 3,
});
// Of the text alone, so that a group has a spread.
const reward = ({ answer }: { answer?: unknown }) => String(answer).length % 3;
/** Fails unless each episode was played to its end; how many there were. */
function playedWhole(run: unknown): number {
  const lines = readLines(String(run), 'trajectories', 'train.jsonl');
  for (const { outcome, problem } of lines) {
    expect(problem ?? '').toBe('');
    expect(outcome).not.toMatch(/failed|error/);
  }
  return lines.length;
}

beforeAll(() => writeSmallModel(model));

describe('An agent with a loop of its own', () => {
  let weights: unknown;

  test('is trained, evaluated and asked when a program passes it', async () => {
    const summary = await trainAgent({ ...parts, tasks, agent: ask, reward, run: runOf('code') });
    const run = summary['run'] as string;
    expect(summary).toMatchObject({ iterations: 2 });
    weights = summary['weightsSha256'];
    playedWhole(run);
    expect(await rejectionOf(evaluateAgent(run, { reward }))).toMatchObject(
      errorOf('PLUGIN_UNKNOWN', '{ agent }'),
    );
    expect(await evaluateAgent(run, { agent: ask, reward, tasks })).toHaveProperty('successRate');
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
    async (name, environment) => {
      const summary = await trainAgent({
        ...parts,
        tasks,
        environment: { type: 'external', match: 'rewards', ...environment },
        reward,
        run: runOf(name.replaceAll(' ', '-')),
      });
      // Wherever it runs, the same agent gives the same run.
      expect(summary['weightsSha256']).toBe(weights);
      expect(playedWhole(summary['run'])).toBe(8);
    },
    120_000,
  );
});
