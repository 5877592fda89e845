import { type GenerationRequest, unbiased } from '#agent_rl/core/services/generator.ts';

/** A request for six tokens after three, from the distribution of the model. */
export const request = (
  episode: string,
  over: Partial<GenerationRequest> = {},
): GenerationRequest => ({
  episode,
  tokens: [1, 2, 3],
  maxTokens: 6,
  stopTokens: [],
  sampling: unbiased,
  key: { seed: 1, taskId: episode, sample: 0, turn: 0 },
  ...over,
});
