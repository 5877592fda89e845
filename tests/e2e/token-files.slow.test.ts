import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { generate, type GenerateOptions } from '#agent_rl/jobs/token-files/generate.ts';
import { score, type ScoreOptions } from '#agent_rl/jobs/token-files/score.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { greedy, unbiased } from '#agent_rl/core/services/generator.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { readLines } from '#tests/support/acme-project.ts';
import { plainLogits, plainLogProbs } from '#tests/support/plain-decoder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import { tinyWeights } from '#tests/support/tiny-models.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { unquantized } from '#model/config/parameters.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import {
  mergedInLoops,
  saveTinyAdapter,
  tinyAdapter,
  tinyAdapterWeights,
} from '#tests/support/tiny-adapter.ts';
import { tinyEngine } from '#tests/support/tiny-engine.ts';

const folder = temporaryFolder();
const tiny = join(folder, 'tiny');
const starter = join(packageRoot(), 'model', 'starter');
const parameters = tinyWeights(tinyModelConfig);
beforeAll(() => saveModel(tiny, { config: tinyModelConfig, parameters, storedDtype: 'F32' }));

interface Generated {
  id?: string;
  sample: number;
  ids: readonly number[];
  text: string | null;
  logprobs: readonly number[];
  stop: string;
  prompt_ids?: readonly number[];
  message?: Readonly<Record<string, unknown>>;
}

const common = {
  device: 'cpu',
  engineThreads: 1,
  signal: new AbortController().signal,
  print: () => undefined,
};

let files = 0;
const newFile = (): string => join(folder, `output-${(files += 1)}.jsonl`);

const settings = (over: Partial<GenerateOptions>): GenerateOptions => ({
  ...common,
  model: tiny,
  thinking: false,
  maxTokens: 12,
  sampling: greedy,
  seed: 1,
  samples: 1,
  batch: 8,
  ...over,
});

async function generated(
  rows: readonly object[],
  over: Partial<GenerateOptions> = {},
): Promise<readonly Generated[]> {
  const text = rows.map((row) => JSON.stringify(row)).join('\n');
  const input = writeBelow(folder, `input-${(files += 1)}.jsonl`, text);
  const output = newFile();
  await generate(settings({ input, output, ...over }));
  return readLines(output) as unknown as readonly Generated[];
}

/** The largest difference. A first token has no log-probability. */
const gap = (ours: readonly (number | null)[], theirs: ArrayLike<number | null>): number =>
  Math.max(0, ...ours.map((value, t) => Math.abs(Number(value) - Number(theirs[t]))));

const prompts = [[3], [4, 5, 6], [7, 8], [9, 10, 11, 12, 13, 14, 15]];
const rows = prompts.map((ids, index) => ({ ids, id: `row ${index}` }));

describe('Generating from ids', () => {
  test('greedily takes the likeliest tokens of the reference decoder and needs no tokenizer', async () => {
    const lines = await generated(rows);
    for (const [index, { ids, text, stop, logprobs }] of lines.entries()) {
      const context = [...prompts[index]!];
      for (const id of ids) {
        const logits = plainLogits(tinyModelConfig, parameters, context).at(-1)!;
        expect(id).toBe(logits.indexOf(Math.max(...logits)));
        context.push(id);
      }
      expect({ text, logprobs: logprobs.length }).toEqual({ text: null, logprobs: ids.length });
      const ended = ids.at(-1) === 2;
      expect(stop).toBe(ended ? 'stop-token' : 'max-tokens');
      expect(ended || ids.length === 12).toBe(true);
    }
  });

  test('packs the weights of a float model', async () => {
    const input = writeBelow(folder, 'packed.jsonl', JSON.stringify(rows[0]));
    expect(await generate(settings({ input, output: newFile() }))).toMatchObject({ packs: true });
  });

  test('gives the same results at any concurrency, in the order of the input', async () => {
    const options = { sampling: unbiased, samples: 3 };
    const many = await generated(rows, options);
    expect(many.map(({ id, sample }) => [id, sample])).toEqual(
      rows.flatMap(({ id }) => [0, 1, 2].map((sample) => [id, sample])),
    );
    expect(new Set(many.map(({ ids }) => ids.join())).size).toBeGreaterThan(6);
    expect(await generated(rows, { ...options, batch: 1 })).toEqual(many);
    const [first] = rows;
    expect(await generated([first!], { ...options, batch: 2 })).toEqual(many.slice(0, 3));
    expect(await generated(rows, { ...options, seed: 2 })).not.toEqual(many);
  });
});

describe('Generating with the starter model', () => {
  const question = { role: 'user', content: 'What is 2 + 2?' };
  const conversations = [
    { id: 'plain', messages: [question] },
    { messages: [{ role: 'system', content: 'Be brief.' }, question] },
  ];
  const model = starter;

  test('answers conversations with log-probabilities that scoring confirms', async () => {
    const both = [...conversations, { ids: [5, 6, 7] }];
    for (const sampling of [greedy, unbiased]) {
      const lines = await generated(both, { model, sampling, maxTokens: 24 });
      const ids = lines.map((line) => [...(line.prompt_ids ?? [5, 6, 7]), ...line.ids]);
      const input = idsFile('again.jsonl', ids);
      const again = await scored({ model, input, batchTokens: 256 });
      for (const [i, { logprobs }] of again.entries()) {
        const told = lines[i]!.logprobs;
        expect(gap(logprobs.slice(-told.length), told)).toBeLessThan(1e-4);
      }
    }
  });

  test('repeats, and uses the turn of a conversation', async () => {
    const first = await generated(conversations, { model, maxTokens: 24 });
    expect(await generated(conversations, { model, maxTokens: 24, batch: 1 })).toEqual(first);
    for (const { message, text } of first) {
      expect(message).toMatchObject({ role: 'assistant' });
      expect(text).toContain(message?.['content']);
    }
  });

  test('answers a prompt without files', async () => {
    const printed: string[] = [];
    const prompt = question.content;
    const print = (text: string) => void printed.push(text);
    const result = await generate(settings({ model, prompt, print, maxTokens: 24 }));
    const [line] = await generated(conversations.slice(0, 1), { model, maxTokens: 24 });
    expect(result['results']).toEqual([{ ...line, id: undefined }]);
    expect(printed).toEqual([line?.text]);
  });

  test('continues ids and refuses conversations without a chat template', async () => {
    const bare = join(folder, 'bare');
    cpSync(starter, bare, { recursive: true, filter: (file) => !file.endsWith('.jinja') });
    const whole = await generated([{ ids: [5, 6] }], { model });
    expect(whole[0]?.text).not.toBeNull();
    expect(await generated([{ ids: [5, 6] }], { model: bare })).toEqual(whole);
    await expectRejection(
      generated(conversations, { model: bare }),
      'DATASET_INVALID',
      /:1 messages: .*holds no chat template/,
    );
  });
});

const oneRow = writeBelow(folder, 'one.jsonl', '{"ids":[3]}');
test.each([
  ['a call without input', {}, '--input'],
  ['both a file and a prompt', { input: oneRow, prompt: 'Hello.', output: newFile() }, '--prompt'],
  ['a file without an output', { input: oneRow }, '--output'],
  [
    'truncation without effect',
    { input: oneRow, output: newFile(), sampling: { ...greedy, topK: 3 } },
    '--temperature 0',
  ],
  ['several greedy samples', { input: oneRow, output: newFile(), samples: 2 }, '--samples 2'],
])('generating refuses %s', async (_, over, named) => {
  await expectRejection(generate(settings(over)), 'CONFIG_INVALID', named);
});

const random = new KeyedRng(4, 'ids');
const sequenceOf = (length: number): number[] =>
  Array.from({ length }, () => Math.floor(random.uniform() * tinyModelConfig.vocabSize));

/** Lengths on both sides of the batches' limits, and the shortest. */
const sequences = [7, 40, 1, 16, 17, 2, 64, 33, 5, 90].map(sequenceOf);

const idsFile = (name: string, ids: readonly (readonly number[])[]): string =>
  writeBelow(folder, name, ids.map((one) => JSON.stringify({ ids: one })).join('\n'));

interface Scored {
  id?: string;
  logprobs: readonly (number | null)[];
}

async function scored(over: Partial<ScoreOptions>): Promise<readonly Scored[]> {
  const output = newFile();
  const input = join(folder, 'none.jsonl');
  await score({ ...common, model: tiny, input, output, batchTokens: 64, ...over });
  return readLines(output) as unknown as Scored[];
}

describe('Scoring', () => {
  test('gives each line the log-probabilities of the reference decoder, in order', async () => {
    const lines = await scored({ input: idsFile('all.jsonl', sequences) });
    expect(lines.map(({ logprobs }) => logprobs.length)).toEqual(
      sequences.map(({ length }) => length),
    );
    for (const [i, { logprobs }] of lines.entries()) {
      const [first, ...rest] = logprobs;
      expect(first).toBeNull();
      const plain = plainLogProbs(tinyModelConfig, parameters, sequences[i] as number[]).slice(1);
      expect(gap(rest, plain)).toBeLessThan(1e-4);
    }
  });

  test('gives a line the same result alone and in batches of any size', async () => {
    const together = await scored({ input: idsFile('all.jsonl', sequences), batchTokens: 512 });
    for (const [i, sequence] of sequences.entries()) {
      const [alone] = await scored({ input: idsFile('one.jsonl', [sequence]), batchTokens: 32 });
      expect(gap(alone!.logprobs, together[i]!.logprobs)).toBeLessThan(1e-6);
    }
  });

  test('includes adapters, given separately or by the folder of one', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    const second = { ...tinyAdapter, name: 'second', rank: 2, alpha: 1 };
    await saveTinyAdapter(one, tinyModelConfig, { baseModel: tiny });
    await saveTinyAdapter(two, tinyModelConfig, { adapter: second });
    const merged = mergedInLoops(parameters, tinyAdapterWeights(tinyModelConfig), tinyModelConfig);
    const both = mergedInLoops(
      merged,
      tinyAdapterWeights(tinyModelConfig, second),
      tinyModelConfig,
      second,
    );
    const ids = sequences[1]!;
    const input = idsFile('adapted.jsonl', [ids]);
    const expected = [merged, merged, both].map((weights) =>
      plainLogProbs(tinyModelConfig, weights, ids),
    );
    const lines = [
      await scored({ input, adapters: [one] }),
      await scored({ input, model: one }),
      await scored({ input, adapters: [one, two] }),
    ].flat();
    for (const [i, { logprobs }] of lines.entries())
      expect(gap(logprobs, expected[i]!)).toBeLessThan(1e-4);
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
    const input = idsFile('quantised.jsonl', [ids]);
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
    ] as const)
      expect(gap(line!.logprobs, expected)).toBeLessThan(1e-4);
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
    const input = idsFile('one.jsonl', [[1, 2]]);
    const result = await score({
      ...common,
      model: bytes,
      input,
      output: newFile(),
      batchTokens: 64,
    });
    expect(result).toMatchObject({ model: bytes, quantization: { bits: 4, blockSize: 16 } });
    const quantize = { bits: 4, blockSize: 16 } as const;
    await expectRejection(
      scored({ model: bytes, input, quantize }),
      'CONFIG_INVALID',
      'already quantized to four bits, in blocks of 16. Remove --quantize',
    );
  });
});
