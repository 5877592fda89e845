import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import {
  type GenerationRequest,
  type Generator,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { openTransformersJs } from '#agent_rl/generation/transformers-js/open-transformers-js.ts';
import { openInThread } from '#agent_rl/generation/transformers-js/threaded-generator.ts';
import { exportOnnx } from '#model/onnx/export-onnx.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

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

const request = (episode: string, over: Partial<GenerationRequest> = {}): GenerationRequest => ({
  episode,
  tokens: [1, 300, 12, 45, 8],
  maxTokens: 20,
  stopTokens: [],
  sampling: unbiased,
  key: { seed: 3, taskId: episode, sample: 0, turn: 0 },
  ...over,
});

describe('transformers.js in a thread of its own', () => {
  test('gives what it gives in this one', async () => {
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

  test('hears that a request is aborted, before it begins and under way', async () => {
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

  test('forgets an episode that is released', async () => {
    await generator.generate(request('gone', { maxTokens: 2 }));
    const anew = request('gone', { tokens: [9, 9], maxTokens: 2 });
    expect(await rejectionOf(generator.generate(anew))).toMatchObject({
      code: 'GENERATION_FAILED',
    });
    generator.release('gone');
    expect(await generator.generate(anew)).toMatchObject({ stop: 'max-tokens' });
  });

  test('says what keeps it from opening, with its code', async () => {
    const nowhere = { ...options, modelFolder: join(exported, 'nowhere') };
    expect(await rejectionOf(openInThread(nowhere))).toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringContaining('has no onnx/model.onnx'),
    });
  });

  test('ends what is under way when it is closed, and then refuses', async () => {
    const other = await openInThread(options);
    const cut = other.generate(request('cut', { maxTokens: 480 }));
    await other.close();
    expect(await cut).toMatchObject({ stop: 'aborted' });
    expect(await rejectionOf(other.generate(request('late')))).toMatchObject({
      code: 'GENERATION_FAILED',
      message: expect.stringContaining('was closed'),
    });
    await other.close();
  });
});
