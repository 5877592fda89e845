import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { greedy } from '#agent_rl/core/services/generator.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import type { Adapter, ModelConfig, RopeScaling } from '#model/config/architecture.ts';
import { adapterTargets, initialAdapter } from '#model/adapters/adapter.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import { exportOnnx } from '#model/onnx/export-onnx.ts';
import { copyLanguageModelFiles, openLanguageModelFolder } from '#model/text/language-model.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { requireFloats } from '#model/config/parameters.ts';
import { plainLogits } from '../support/plain-decoder.ts';
import { cpuEngine } from '../support/cpu-engine.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { mergedInLoops } from '../support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '../support/tiny-models.ts';
import {
  generatedBy,
  idTensor,
  logitsBy,
  openInTransformersJs,
} from '../support/transformers-js.ts';

const starter = join(packageRoot(), 'model', 'starter');
const folder = temporaryFolder();
const prompt = [1, 7, 300, 12, 1023, 45, 8];

const engine = cpuEngine();

/** A tiny model with the vocabulary, tokenizer and template of the starter. */
async function tinyFolder(name: string, tiny: ModelConfig): Promise<string> {
  const config = { ...tiny, vocabSize: 1024, maxPositions: 128 };
  const to = join(folder, name);
  await saveModel(to, { config, parameters: tinyWeights(config), storedDtype: 'F32' });
  await copyLanguageModelFiles(starter, to);
  return to;
}

/** What this project's generator adds to the prompt. */
async function generatedHere(
  from: string,
  count: number,
  tokens = prompt,
): Promise<readonly number[]> {
  const { config, parameters } = await loadModel(from);
  const generator = new LocalGenerator(new DecoderPrograms(engine, config, 128), {
    rows: 1,
    maxContextTokens: 128,
  });
  await generator.setWeights(parameters, 0);
  const { stopTokens } = await openLanguageModelFolder(from);
  const key = { seed: 0, taskId: 'export', sample: 0, turn: 0 };
  const request = { tokens, maxTokens: count, stopTokens, sampling: greedy, key };
  return (await generator.generate({ episode: 'export', ...request })).tokens;
}

const ones = (length: number): number[] => Array.from({ length }, () => 1);
/** One row, which may see this many tokens. */
const fed = (ids: readonly number[], seen = ids.length) => ({
  input_ids: idTensor([[...ids]]),
  attention_mask: idTensor([ones(seen)]),
});

const greatestDifference = (one: readonly number[][], other: readonly number[][]): number =>
  Math.max(...one.flatMap((row, i) => row.map((value, j) => Math.abs(value - other[i]![j]!))));

const models = Object.entries(tinyModels);

describe.each(models)('The exported model of %s', (name, tiny) => {
  const to = join(folder, `${name} exported`);
  let from = '';
  beforeAll(async () => {
    from = await tinyFolder(name, tiny);
    await exportOnnx(from, to);
  });

  test('generates the same tokens in transformers.js', async () => {
    const model = await openInTransformersJs(to);
    const seen = new Set<number>();
    for (const one of [prompt, [5, 900, 31], [6, 640, 640, 77]]) {
      const tokens = await generatedBy(model, one, 64);
      expect(tokens).toEqual(await generatedHere(from, 64, one));
      for (const token of tokens) seen.add(token);
    }
    await model.dispose();
    expect(seen.size).toBeGreaterThan(2);
  });

  test('has the logits of the reference decoder', async () => {
    const model = await openInTransformersJs(to);
    const [logits] = await logitsBy(model, fed(prompt));
    await model.dispose();
    const { config, parameters } = await loadModel(from);
    const expected = plainLogits(config, requireFloats(parameters), prompt);
    expect(logits).toHaveLength(prompt.length);
    expect(greatestDifference(logits!, expected)).toBeLessThan(1e-4);
  });

  test('computes a left-padded row and a row in two pieces as it does alone', async () => {
    const model = await openInTransformersJs(to);
    const [alone] = await logitsBy(model, fed(prompt));
    const [, padded] = await logitsBy(model, {
      input_ids: idTensor([
        [4, 5, 6, ...prompt],
        [0, 0, 0, ...prompt],
      ]),
      attention_mask: idTensor([ones(10), [0, 0, 0, ...ones(7)]]),
    });
    expect(greatestDifference(padded!.slice(3), alone!)).toBeLessThan(1e-5);

    const first = (await model.forward(fed(prompt.slice(0, 4)))) as Record<string, unknown>;
    const past = Object.entries(first).filter(([output]) => output.startsWith('present.'));
    const [rest] = await logitsBy(model, {
      ...fed(prompt.slice(4), 7),
      past_key_values: Object.fromEntries(
        past.map(([output, value]) => [output.replace('present', 'past_key_values'), value]),
      ),
    });
    await model.dispose();
    expect(greatestDifference(rest!, alone!.slice(4))).toBeLessThan(1e-5);
  });
});

const untied = {
  ...tinyModels['Llama with as many key heads as query heads']!,
  tiedEmbeddings: false,
};
const scalings: Readonly<Record<string, RopeScaling>> = {
  linear: { type: 'linear', factor: 4 },
  llama3: {
    type: 'llama3',
    factor: 8,
    lowFrequencyTurns: 1,
    highFrequencyTurns: 4,
    originalPositions: 32,
  },
  yarn: {
    type: 'yarn',
    factor: 4,
    originalPositions: 32,
    attentionFactor: 1.3,
    betaFast: 32,
    betaSlow: 1,
    truncate: true,
  },
};

test.each(Object.keys(scalings))(
  'an export with scaled rotary embeddings generates the same tokens in transformers.js: %s',
  async (name) => {
    const from = await tinyFolder(name, { ...untied, ropeScaling: scalings[name]! });
    const to = join(folder, `${name} exported`);
    await exportOnnx(from, to);
    const model = await openInTransformersJs(to);
    const tokens = await generatedBy(model, prompt, 64);
    await model.dispose();
    expect(tokens).toEqual(await generatedHere(from, 64));
    const plain = await tinyFolder(`${name} not scaled`, untied);
    expect(tokens).not.toEqual(await generatedHere(plain, 64));
  },
);

describe('The exported starter model', () => {
  test('is the same with its weights in an external file', async () => {
    const to = join(folder, 'starter apart');
    const exported = await exportOnnx(starter, to, { mostBytesInside: 1e6 });
    expect(exported.weightsApart).toBe(true);
    expect(readdirSync(join(to, 'onnx')).toSorted()).toEqual(['model.onnx', 'model.onnx_data']);
    const model = await openInTransformersJs(to);
    const tokens = await generatedBy(model, prompt, 64);
    await model.dispose();
    expect(tokens).toEqual(await generatedHere(starter, 64));
  });

  test('renders prompts with its own template', async () => {
    const to = join(folder, 'starter with template');
    await exportOnnx(starter, to);
    const { AutoTokenizer } = await import('@huggingface/transformers');
    const tokenizer = await AutoTokenizer.from_pretrained(to, { local_files_only: true });
    const text = tokenizer.apply_chat_template([{ role: 'user', content: 'Hello' }], {
      tokenize: false,
      add_generation_prompt: true,
    });
    const { template } = await openLanguageModelFolder(starter);
    const said = [{ role: 'user', content: 'Hello' }] as const;
    expect(text).toBe(template.renderChat(said, [], { addGenerationPrompt: true }));
  });
});

describe('An exported model with an adapter', () => {
  const tiny = tinyModels['Qwen2 with biases, four query heads per key head and its own LM head']!;
  const config = { ...tiny, vocabSize: 1024, maxPositions: 128 };
  const adapter: Adapter = {
    name: 'own',
    rank: 3,
    alpha: 6,
    dropout: 0,
    rankStabilised: false,
    targets: adapterTargets(['q_proj', 'mlp']),
  };

  test.each([
    ['beside the model', false],
    ['alone, naming the model under it', true],
  ])('has the logits of the merged weights: %s', async (name, alone) => {
    const base = await tinyFolder(`under ${name}`, tiny);
    const parameters = initialAdapter(config, adapter, new KeyedRng(4));
    for (const values of parameters.values())
      values.forEach((value, i) => (values[i] = value + 0.1 * Math.sin(i)));
    const own = join(folder, `adapter ${name}`);
    await writeAdapter(own, config, { adapter, parameters, baseModel: base });
    const to = join(folder, `adapted ${name}`);
    await (alone ? exportOnnx(own, to) : exportOnnx(base, to, { adapters: [own] }));

    const model = await openInTransformersJs(to);
    const [logits] = await logitsBy(model, fed(prompt));
    await model.dispose();
    const merged = mergedInLoops(tinyWeights(config), parameters, config, adapter);
    expect(greatestDifference(logits!, plainLogits(config, merged, prompt))).toBeLessThan(1e-4);
    const plain = plainLogits(config, tinyWeights(config), prompt);
    expect(greatestDifference(logits!, plain)).toBeGreaterThan(0.1);
  });
});

test('a failed export leaves no file behind, of a damaged model or when it is stopped', async () => {
  const damaged = await tinyFolder(
    'damaged',
    tinyModels['Qwen3 with two query heads per key head']!,
  );
  truncateSync(join(damaged, 'model.safetensors'), 1000);
  const to = join(folder, 'from damaged');
  const stopped = exportOnnx(starter, to, { signal: AbortSignal.abort() });
  expect((await rejectionOf(stopped)).code).toBe('INTERRUPTED');
  expect(await rejectionOf(exportOnnx(damaged, to))).toMatchObject({ code: 'MODEL_INVALID' });
  expect(existsSync(to)).toBe(false);
  const left = readdirSync(folder).filter((name) => name.includes('partial'));
  expect(left).toEqual([]);
});
