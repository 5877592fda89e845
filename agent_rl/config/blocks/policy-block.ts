import { Type } from 'typebox';

import { block } from './block.ts';

const SamplingBlock = block(
  {
    temperature: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Logits are divided by it; 0 takes the likeliest token',
    }),
    topK: Type.Integer({ minimum: 0, default: 0, description: 'Keeps the k likeliest; 0 is off' }),
    topP: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      default: 1,
      description: 'Keeps the likeliest tokens up to this mass; 1 is off',
    }),
    minP: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Keeps tokens at least this share as likely as the likeliest; 0 is off',
    }),
  },
  'How tokens are drawn during training',
);

/** `policy:` the token side of the agent. A policy's own settings stand beside these. */
export const PolicyBlock = Type.Object(
  {
    type: Type.String({ minLength: 1, default: 'minimind', description: 'Name of a policy' }),
    toolCallFormat: Type.Unsafe<string | Readonly<{ type: string }>>({
      type: ['string', 'object'],
      minLength: 1,
      default: 'auto',
      description:
        'Name of a tool-call format, or a block of its type and settings; auto finds it from the chat template',
    }),
    sampling: SamplingBlock,
    maxTurnTokens: Type.Integer({
      minimum: 1,
      default: 160,
      unit: 'tokens',
      description: 'Most tokens sampled in one turn',
    }),
    maxContextTokens: Type.Integer({
      minimum: 16,
      default: 768,
      unit: 'tokens',
      description: 'Longest context the generator holds',
    }),
  },
  { default: {}, description: 'The token side of the agent' },
);
