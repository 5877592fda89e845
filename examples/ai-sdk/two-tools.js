// An agent with one useful and one useless tool, on a model that calls both. `node two-tools.js SEED` trains it;
// `node two-tools.js served` evaluates the trained model behind agent-rl serve (--name policy).
import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { trainAgent } from 'agent_rl';
import { rolloutModel } from 'agent_rl/ai-sdk';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

import { search } from './search.js';

const tools = {
  search: tool({
    description: 'Finds documents by words.',
    inputSchema: z.object({ query: z.string() }),
    execute: ({ query }) => search(query),
  }),
  code_exec: tool({
    description: 'Runs Python.',
    inputSchema: z.object({ code: z.string() }),
    execute: () => 'Error: nothing was printed.',
  }),
};
const baseURL = process.env.OPENAI_BASE_URL ?? 'http://127.0.0.1:8000/v1';
const model = rolloutModel(createOpenAICompatible({ name: 'served', baseURL })('policy'));
const ask = async (prompt, abortSignal) =>
  (await generateText({ model, tools, stopWhen: stepCountIs(6), prompt, abortSignal })).text;

const plain = (text = '') => text.replace(/^It is |\.$/gi, '').toLowerCase();
const isRight = (text, { answer, aliases }) =>
  [answer, ...aliases].some((one) => plain(one) === plain(text));

const [, , what = '42'] = process.argv;
const tasks = '../../dataset/search_tasks';
if (what === 'served') {
  const rows = readFileSync(`${tasks}/eval.jsonl`, 'utf8').trim().split('\n').map(JSON.parse);
  const headline = rows.filter(({ metadata }) => metadata.slice === undefined);
  const right = [];
  for (let next = 0; next < headline.length; next += 16) {
    const asked = headline.slice(next, next + 16);
    const texts = await Promise.all(asked.map(({ question }) => ask(question)));
    right.push(...texts.map((text, index) => isRight(text, asked[index])));
  }
  console.log(`${right.filter(Boolean).length} of ${right.length}`);
} else {
  await trainAgent({
    model: 'model/mixed-starter',
    tasks: `${tasks}/train.jsonl`,
    evalTasks: `${tasks}/eval.jsonl`,
    agent: ({ task, signal }) => ask(task.prompt, signal),
    reward: ({ task, answer }) => (isRight(answer, task) ? 1 : 0),
    policy: { thinking: true, maxTurnTokens: 96, maxContextTokens: 512 },
    rollout: { tasksPerStep: 24, groupSize: 8, workers: 96, maxTurns: 6, maxEpisodeTokens: 512 },
    train: {
      iterations: 48,
      learningRate: 3e-4,
      warmupSteps: 3,
      schedule: 'cosine',
      finalRatio: 0.2,
      beta2: 0.99,
    },
    eval: { samples: 1, temperature: 1 },
    run: { name: `two-tools-${what}`, seed: Number(what) },
    print: console.log,
  });
}
