import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { rolloutFetch } from 'agent_rl/gateway';
import { z } from 'zod';

import { lookup, search } from './search.js';

const agent = createReactAgent({
  llm: new ChatOpenAI({
    model: 'gpt-5-mini',
    apiKey: process.env.OPENAI_API_KEY ?? 'unused in training',
    configuration: { fetch: rolloutFetch },
  }),
  tools: [
    tool(({ query }) => search(query), {
      name: 'search',
      description: 'Finds documents by words.',
      schema: z.object({ query: z.string() }),
    }),
    tool(({ title }) => lookup(title), {
      name: 'lookup',
      description: 'The document with a title.',
      schema: z.object({ title: z.string() }),
    }),
  ],
});

export async function answer(prompt, signal) {
  const messages = [{ role: 'user', content: prompt }];
  const ended = await agent.invoke({ messages }, { signal, recursionLimit: 12 });
  return ended.messages.at(-1).content;
}
