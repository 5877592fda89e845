import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterEach, expect, test } from '@jest/globals';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';

import { rolloutModel } from '#agent_rl/ai-sdk.ts';
import { rollouts } from '#agent_rl/core/services/rollout-scope.ts';
import { rolloutFetch } from '#agent_rl/gateway/index.ts';

/* The packages of the AI SDK themselves, version 6: what they take, and what they ask. */

afterEach(() => {
  rollouts.open = 0;
});

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const production = new MockLanguageModelV3({
  doGenerate: {
    content: [{ type: 'text', text: 'from production' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: usage as never,
    warnings: [],
  },
});

/** Answers as the gateway does, and keeps what it was asked. */
function scope(answers: readonly object[]) {
  const asked: { messages: { role: string; agent_rl_turn?: string }[] }[] = [];
  const answer: typeof fetch = async (_, init) => {
    asked.push(JSON.parse(init?.body as string) as (typeof asked)[number]);
    const message = answers[asked.length - 1];
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const body = { id: `turn-${asked.length}`, created: 0, model: 'policy', choices, usage: {} };
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  };
  const within = <Value>(work: () => Promise<Value>): Promise<Value> => {
    rollouts.open = 1;
    return rollouts.scope.run({ fetch: answer }, work);
  };
  return { asked, within };
}

const call = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } },
  ],
};
const baseURL = 'http://anywhere/v1';
const compatible = createOpenAICompatible({ name: 'any', baseURL, fetch: rolloutFetch });
const said = { role: 'assistant', content: 'It is 3.' };
const add = tool({
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

test.each([
  ['rolloutModel()', rolloutModel()],
  ['an OpenAI-compatible model with rolloutFetch', compatible('m')],
])('generateText runs its loop with %s', async (name, model) => {
  const { asked, within } = scope([call, said]);
  const { text, steps } = await within(() =>
    generateText({ model, tools: { add }, stopWhen: stepCountIs(3), prompt: 'What is 1 + 2?' }),
  );
  expect([text, steps.length]).toEqual(['It is 3.', 2]);
  expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  // Only its own model says which turn comes back.
  const turn = asked[1]?.messages[1]?.agent_rl_turn;
  expect(turn).toBe(name === 'rolloutModel()' ? 'turn-1' : undefined);
});

test('streamText streams a turn of rolloutModel()', async () => {
  const { within } = scope([said]);
  const text = await within(async () => streamText({ model: rolloutModel(), prompt: 'x' }).text);
  expect(text).toBe('It is 3.');
});

test('where nothing is trained, rolloutModel asks the model of production', async () => {
  const asked = await generateText({ model: rolloutModel(production), prompt: 'x' });
  expect(asked.text).toBe('from production');
});

test('rolloutModel says what to do where it was lost, and where it has no model of production', async () => {
  const ask = () => generateText({ model: rolloutModel(), prompt: 'x', maxRetries: 0 });
  await expect(ask()).rejects.toThrow(
    'Pass the model to use in production: rolloutModel(openai(…))',
  );
  rollouts.open = 1;
  await expect(ask()).rejects.toThrow('Call the model within the function that runs the agent');
});
