import { describe, expect, test } from '@jest/globals';

import { cacheBytes, checkCacheFits } from '../../../../agent_rl/engine-thread/check-cache-fits.ts';
import { tinyModelConfig } from '../../../support/tiny-model.ts';

describe('the cache of a generator', () => {
  const model = { ...tinyModelConfig, layers: 2, kvHeads: 1, headDim: 4, maxPositions: 64 };

  test('takes keys and values of 4 bytes for each layer, head, position and episode', () => {
    // 2 x 4 bytes x 3 episodes x 2 layers x 1 head x 16 positions x 4 numbers.
    expect(cacheBytes(model, { workers: 3, maxContextTokens: 16 })).toBe(3072);
  });

  test('is refused when longer than the positions of the model', () => {
    expect(() => checkCacheFits(model, { workers: 1, maxContextTokens: 80 })).toThrow(
      'policy.maxContextTokens is 80, and the model has 64 positions. Use at most 64.',
    );
  });

  test('is refused when larger than the memory of the machine, and taken when it just fits', () => {
    const request = { workers: 3, maxContextTokens: 16 };
    expect(() => checkCacheFits(model, request, 3071)).toThrow(
      'The cache of rollout.workers = 3 episodes of policy.maxContextTokens = 16 tokens takes',
    );
    expect(() => checkCacheFits(model, request, 3072)).not.toThrow();
  });
});
