import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ScoreOptions } from '#agent_rl/jobs/token-files/score.ts';
import { score } from '#agent_rl/jobs/token-files/score.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { unquantized } from '#model/config/parameters.ts';
import { readLines } from '#tests/support/acme-project.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { plainLogProbs } from '#tests/support/plain-decoder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import {
  mergedInLoops,
  saveTinyAdapter,
  tinyAdapter,
  tinyAdapterWeights,
} from '#tests/support/tiny-adapter.ts';
import { tinyEngine } from '#tests/support/tiny-engine.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import { tinyWeights } from '#tests/support/tiny-models.ts';

const folder = temporaryFolder();
const model = join(folder, 'model');
const parameters = tinyWeights(tinyModelConfig);
beforeAll(() => saveModel(model, { config: tinyModelConfig, parameters, storedDtype: 'F32' }));

const random = new KeyedRng(4, 'ids');
const sequenceOf = (length: number): number[] =>
  Array.from({ length }, () => Math.floor(random.uniform() * tinyModelConfig.vocabSize));

/** Lengths on both sides of the batches' limits, and the shortest. */
const sequences = [7, 40, 1, 16, 17, 2, 64, 33, 5, 90].map(sequenceOf);

const fileOf = (name: string, ids: readonly (readonly number[])[]): string =>
  writeBelow(folder, name, ids.map((one) => JSON.stringify({ ids: one })).join('\n'));

interface Scored {
  id?: string;
  logprobs: readonly (number | null)[];
}

const common = {
  model,
  device: 'cpu',
  engineThreads: 1,
  batchTokens: 64,
  signal: new AbortController().signal,
  print: () => undefined,
};

let files = 0;
async function scored(over: Partial<ScoreOptions>): Promise<readonly Scored[]> {
  const output = join(folder, `scored-${(files += 1)}.jsonl`);
  await score({ ...common, input: join(folder, 'none.jsonl'), output, ...over });
  return readLines(output) as unknown as Scored[];
}

describe('Scoring', () => {
  test('gives each line the log-probabilities of the reference decoder, in order', async () => {
    const lines = await scored({ input: fileOf('all.jsonl', sequences) });
    expect(lines.map(({ logprobs }) => logprobs.length)).toEqual(
      sequences.map(({ length }) => length),
    );
    for (const [i, { logprobs }] of lines.entries()) {
      const [first, ...rest] = logprobs;
      expect(first).toBeNull();
      const plain = plainLogProbs(tinyModelConfig, parameters, sequences[i] as number[]).slice(1);
      expect(
        Math.max(0, ...rest.map((value, t) => Math.abs(Number(value) - plain[t]!))),
      ).toBeLessThan(1e-4);
    }
  });

  test('gives a line the same result alone and in batches of any size', async () => {
    const together = await scored({ input: fileOf('all.jsonl', sequences), batchTokens: 512 });
    for (const [i, sequence] of sequences.entries()) {
      const [alone] = await scored({ input: fileOf('one.jsonl', [sequence]), batchTokens: 32 });
      const company = together[i]!.logprobs;
      const differences = alone!.logprobs.map((value, t) =>
        Math.abs(Number(value) - Number(company[t])),
      );
      expect(Math.max(...differences)).toBeLessThan(1e-6);
    }
  });

  test('includes adapters, given separately or by the folder of one', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    const second = { ...tinyAdapter, name: 'second', rank: 2, alpha: 1 };
    await saveTinyAdapter(one, tinyModelConfig, { baseModel: model });
    await saveTinyAdapter(two, tinyModelConfig, { adapter: second });
    const merged = mergedInLoops(parameters, tinyAdapterWeights(tinyModelConfig), tinyModelConfig);
    const both = mergedInLoops(
      merged,
      tinyAdapterWeights(tinyModelConfig, second),
      tinyModelConfig,
      second,
    );
    const ids = sequences[1]!;
    const input = fileOf('adapted.jsonl', [ids]);
    const expected = [merged, merged, both].map((weights) =>
      plainLogProbs(tinyModelConfig, weights, ids),
    );
    const lines = [
      await scored({ input, adapters: [one] }),
      await scored({ input, model: one }),
      await scored({ input, adapters: [one, two] }),
    ].flat();
    for (const [i, { logprobs }] of lines.entries()) {
      const differences = logprobs.map((value, t) => Math.abs(Number(value) - expected[i]![t]!));
      expect(Math.max(...differences)).toBeLessThan(1e-4);
    }
    const [plain] = await scored({ input });
    expect(plain).not.toEqual(lines[0]);
  });

  test('equals what the learner trains on for a four-bit model, stored or quantised at load, with an adapter', async () => {
    const { config, weights, floats, meant } = await tinyQuantizedModel();
    const [bytes, plain, own] = [join(folder, 'bytes'), join(folder, 'plain'), join(folder, 'own')];
    await saveModel(bytes, { config, parameters: weights, storedDtype: 'F32' });
    await saveModel(plain, { config: tinyModelConfig, parameters: floats, storedDtype: 'F32' });
    await saveTinyAdapter(own, tinyModelConfig, { baseModel: bytes });
    const ids = sequences[1]!;
    const input = fileOf('quantised.jsonl', [ids]);
    const quantize = { bits: 4, blockSize: 16 } as const;
    const [stored] = await scored({ input, model: bytes });
    const [atLoad] = await scored({ input, model: plain, quantize });
    expect(atLoad).toEqual(stored);
    const [adapted] = await scored({ input, model: own });
    expect(await scored({ input, model: plain, quantize, adapters: [own] })).toEqual([adapted]);

    const merged = mergedInLoops(meant, tinyAdapterWeights(tinyModelConfig), tinyModelConfig);
    for (const [line, expected] of [
      [stored, plainLogProbs(unquantized(config), meant, ids)],
      [adapted, plainLogProbs(unquantized(config), merged, ids)],
    ] as const) {
      const differences = line!.logprobs.map((value, t) => Math.abs(Number(value) - expected[t]!));
      expect(Math.max(...differences)).toBeLessThan(1e-4);
    }
    const service = await EngineService.open({ ...tinyEngine(own), rows: 1 });
    const [learned] = await service.learner.forward([Int32Array.from(ids)], {
      temperature: 1,
      which: 'policy',
    });
    await service.close();
    expect(adapted!.logprobs.slice(1).map((value) => Math.fround(Number(value)))).toEqual([
      ...learned!.subarray(1),
    ]);
  });

  test('reports four-bit weights in its result and quantises no weights twice', async () => {
    const { config, weights } = await tinyQuantizedModel();
    const bytes = join(folder, 'four');
    await saveModel(bytes, { config, parameters: weights, storedDtype: 'F32' });
    const input = fileOf('one.jsonl', [[1, 2]]);
    const result = await score({ ...common, model: bytes, input, output: join(folder, 'four') });
    expect(result).toMatchObject({ model: bytes, quantization: { bits: 4, blockSize: 16 } });
    const quantize = { bits: 4, blockSize: 16 } as const;
    expect(await rejectionOf(scored({ model: bytes, input, quantize }))).toMatchObject(
      errorOf(
        'CONFIG_INVALID',
        'already quantized to four bits, in blocks of 16. Remove --quantize',
      ),
    );
  });

  test.each([
    ['a line that is no row', { input: fileOf('wrong.jsonl', [[1], [24]]) }, 'DATASET_INVALID'],
    ['no model', { model: join(folder, 'nowhere') }, 'MODEL_INVALID'],
    ['an unknown device', { device: 'abacus' }, 'CONFIG_INVALID'],
    ['a stop', { signal: AbortSignal.abort() }, 'INTERRUPTED'],
  ])('leaves no output after %s', async (_, over, code) => {
    const place = join(folder, code.toLowerCase());
    const output = join(place, 'scored.jsonl');
    const input = fileOf('right.jsonl', [[1, 2]]);
    const error = await rejectionOf(scored({ input, output, ...over }));
    expect(error.code).toBe(code);
    expect(existsSync(place) ? readdirSync(place) : []).toEqual([]);
  });
});
