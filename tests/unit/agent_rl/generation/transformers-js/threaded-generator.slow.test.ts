import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { GenerationRequest, Generator } from '#agent_rl/core/services/generator.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { openTransformersJs } from '#agent_rl/generation/transformers-js/open-transformers-js.ts';
import { openInThread } from '#agent_rl/generation/transformers-js/threaded-generator.ts';
import { exportOnnx } from '#model/onnx/export-onnx.ts';
import { request as requestOf } from '#tests/support/generation-request.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';

const exported = join(temporaryFolder(), 'starter');
const options = {
  modelFolder: exported,
  device: 'cpu',
  threads: 1,
  maxContextTokens: 500,
  dtype: 'fp32',
} as const;

let generator: Generator;
beforeAll(async () => {
  await exportOnnx(join(packageRoot(), 'model', 'starter'), exported);
  generator = await openInThread(options);
});
afterAll(() => generator.close());

const request = (episode: string, over: Partial<GenerationRequest> = {}) =>
  requestOf(episode, { tokens: [1, 300, 12, 45, 8], maxTokens: 20, ...over });

describe('transformers.js in its own thread', () => {
  test('draws what it draws in this thread', async () => {
    const here = await openTransformersJs(options);
    expect(await generator.describe()).toEqual(await here.describe());
    for (const episode of ['a', 'b'])
      expect(await generator.generate(request(episode))).toEqual(
        await here.generate(request(episode)),
      );
    await here.close();
  });

  test('leaves this thread free meanwhile', async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    await generator.generate(request('free', { maxTokens: 60 }));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(5);
  });

  test('stops a request that is aborted before it begins or in progress', async () => {
    const [before, later] = [new AbortController(), new AbortController()];
    before.abort();
    const none = await generator.generate(request('before'), before.signal);
    expect(none).toMatchObject({ tokens: [], stop: 'aborted' });
    const cut = generator.generate(request('later', { maxTokens: 480 }), later.signal);
    later.abort();
    const { tokens, stop } = await cut;
    expect(stop).toBe('aborted');
    expect(tokens.length).toBeLessThan(480);
  });

  test('forgets a released episode', async () => {
    await generator.generate(request('gone', { maxTokens: 2 }));
    const anew = request('gone', { tokens: [9, 9], maxTokens: 2 });
    expect(await rejectionOf(generator.generate(anew))).toMatchObject({
      code: 'GENERATION_FAILED',
    });
    generator.release('gone');
    expect(await generator.generate(anew)).toMatchObject({ stop: 'max-tokens' });
  });

  test('reports why it cannot open, with the code', async () => {
    const nowhere = { ...options, modelFolder: join(exported, 'nowhere') };
    await expectRejection(openInThread(nowhere), 'MODEL_INVALID', 'has no onnx/model.onnx');
  });

  test('ends requests in progress when it is closed, and refuses later ones', async () => {
    const other = await openInThread(options);
    const cut = other.generate(request('cut', { maxTokens: 480 }));
    await other.close();
    expect(await cut).toMatchObject({ stop: 'aborted' });
    await expectRejection(other.generate(request('late')), 'GENERATION_FAILED', 'was closed');
    await other.close();
  });
});
