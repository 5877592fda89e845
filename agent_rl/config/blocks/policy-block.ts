import { Type } from 'typebox';

import { above, block, flag, integer, most, number, text, within } from './block.ts';

const SamplingBlock = block(
  {
    temperature: number('Sampling temperature; 0 takes the most likely token', within(0, 10, 1)),
    topK: integer('Keep the k most likely tokens; 0 is off', within(0, most.tokens, 0)),
    topP: number(
      'Keep the most likely tokens up to this probability mass; 1 is off',
      above(0, 1, 1),
    ),
    minP: number(
      'Keep tokens at least this fraction as likely as the most likely; 0 is off',
      within(0, 1, 0),
    ),
    allowBiasedGradient: flag(
      'Lets reinforcement learning begin with topK, topP or minP, whose gradient is biased',
      false,
    ),
  },
  'How tokens are sampled in training and in chat',
);

/** `policy:` how the agent turns messages into tokens and back. A policy's own settings stand beside these. */
export const PolicyBlock = Type.Object(
  {
    type: text('Name of a policy', { minLength: 1, default: 'minimind' }),
    toolCallFormat: Type.Unsafe<string | Readonly<{ type: string }>>({
      type: ['string', 'object'],
      minLength: 1,
      default: 'auto',
      description:
        'Name of a tool-call format, or a block with its type and settings; auto infers it from the chat template',
    }),
    sampling: SamplingBlock,
    maxTurnTokens: integer(
      'Most tokens to sample in one turn',
      within(1, most.tokens, 160, 'tokens'),
    ),
    maxContextTokens: integer(
      'Longest context that the generator holds',
      within(16, most.tokens, 768, 'tokens'),
    ),
  },
  { default: {}, description: 'How the agent turns messages into tokens and back' },
);
