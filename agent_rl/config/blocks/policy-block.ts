import { Type } from '../../core/typebox.ts';
import { above, block, flag, integer, most, number, text, within } from './block.ts';

const SamplingBlock = block(
  {
    temperature: number('Sampling temperature; 0 is greedy', within(0, 10, 1)),
    topK: integer(
      'Sample from the k most likely tokens; 0 turns this off',
      within(0, most.tokens, 0),
    ),
    topP: number(
      'Sample from the most likely tokens up to this probability mass; 1 turns this off',
      above(0, 1, 1),
    ),
    minP: number(
      'Sample from tokens at least this fraction as likely as the most likely one; 0 turns this off',
      within(0, 1, 0),
    ),
    allowBiasedGradient: flag(
      'Allow topK, topP and minP in reinforcement learning, although they bias the gradient',
      false,
    ),
  },
  'How tokens are sampled in training and in chat',
);

/** `policy:` how the agent turns messages into tokens and back. The policy's own settings are in the same block. */
export const PolicyBlock = Type.Object(
  {
    type: text('Name of a policy', { minLength: 1, default: 'minimind' }),
    toolCallFormat: Type.Unsafe<string | Readonly<{ type: string }>>({
      type: ['string', 'object'],
      minLength: 1,
      default: 'auto',
      description:
        'Tool-call format, or a block with its type and settings; auto infers it from the chat template',
    }),
    sampling: SamplingBlock,
    maxTurnTokens: integer('Token limit of one turn', within(1, most.tokens, 160, 'tokens')),
    maxContextTokens: integer(
      'Context length of the generator',
      within(16, most.tokens, 768, 'tokens'),
    ),
  },
  { default: {}, description: 'How the agent turns messages into tokens and back' },
);
