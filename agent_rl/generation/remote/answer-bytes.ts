import type { GenerationRequest } from '../../core/services/generator.ts';

const besides = 2 ** 20;
const ofPromptToken = 64;
/** With its text, its bytes and the alternatives that some servers list. */
const ofDrawnToken = 2 ** 12;

/** Longest that an answer to a request can be: what is longer is no answer to it. */
export const mostAnswerBytes = ({
  tokens,
  maxTokens,
}: Pick<GenerationRequest, 'tokens' | 'maxTokens'>): number =>
  besides + ofPromptToken * tokens.length + ofDrawnToken * maxTokens;
