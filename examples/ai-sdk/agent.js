import { rolloutModel } from 'agent_rl/ai-sdk';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';

import { lookup, search } from './search.js';

const tools = {
  search: tool({
    description: 'Finds documents by words.',
    inputSchema: z.object({ query: z.string() }),
    execute: ({ query }) => search(query),
  }),
  lookup: tool({
    description: 'The document with a title.',
    inputSchema: z.object({ title: z.string() }),
    execute: ({ title }) => lookup(title),
  }),
};

/** @param production the model to use outside of training */
export function searchAgent(production) {
  const model = rolloutModel(production);
  return async (prompt, abortSignal) => {
    const { text } = await generateText({
      model,
      tools,
      stopWhen: stepCountIs(6),
      prompt,
      abortSignal,
    });
    return text;
  };
}
