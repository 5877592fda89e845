import { Type } from 'typebox';

import { block } from './block.ts';

const SamplingBlock = block(
  {
    temperature: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Sampling temperature; 0 takes the most likely token',
    }),
    topK: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Keep the k most likely tokens; 0 is off',
    }),
    topP: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      default: 1,
      description: 'Keep the most likely tokens up to this probability mass; 1 is off',
    }),
    minP: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Keep tokens at least this fraction as likely as the most likely; 0 is off',
    }),
  },
  'How tokens are sampled in training',
);

/** `policy:` how the agent turns messages into tokens and back. A policy's own settings stand beside these. */
export const PolicyBlock = Type.Object(
  {
    type: Type.String({ minLength: 1, default: 'minimind', description: 'Name of a policy' }),
    toolCallFormat: Type.Unsafe<string | Readonly<{ type: string }>>({
      type: ['string', 'object'],
      minLength: 1,
      default: 'auto',
      description:
        'Name of a tool-call format, or a block with its type and settings; auto infers it from the chat template',
    }),
    sampling: SamplingBlock,
    maxTurnTokens: Type.Integer({
      minimum: 1,
      default: 160,
      unit: 'tokens',
      description: 'Most tokens to sample in one turn',
    }),
    maxContextTokens: Type.Integer({
      minimum: 16,
      default: 768,
      unit: 'tokens',
      description: 'Longest context that the generator holds',
    }),
  },
  { default: {}, description: 'How the agent turns messages into tokens and back' },
);
