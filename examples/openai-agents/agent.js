import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents';
import { rolloutFetch } from 'agent_rl/gateway';
import OpenAI from 'openai';
import { z } from 'zod';

import { lookup, search } from './search.js';

// The only lines for training: the client uses rolloutFetch, and no trace of a rollout is sent to OpenAI.
setDefaultOpenAIClient(
  new OpenAI({
    apiKey: process.env.OPENAI_API_KEY ?? 'unused in training',
    fetch: rolloutFetch,
  }),
);
setTracingDisabled(true);

const agent = new Agent({
  name: 'Searcher',
  model: 'gpt-5-mini',
  tools: [
    tool({
      name: 'search',
      description: 'Finds documents by words.',
      parameters: z.object({ query: z.string() }),
      execute: ({ query }) => search(query),
    }),
    tool({
      name: 'lookup',
      description: 'The document with a title.',
      parameters: z.object({ title: z.string() }),
      execute: ({ title }) => lookup(title),
    }),
  ],
});

export async function answer(prompt, signal) {
  const { finalOutput } = await run(agent, prompt, { signal, maxTurns: 6 });
  return finalOutput;
}
