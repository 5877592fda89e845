import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { inverseFrequencies } from '#model/decoder/rope.ts';
import { initialParameters, parameterSpecs } from '#model/config/parameters.ts';
import { storedTypes } from '#model/gguf/dequantise.ts';
import { importGguf } from '#model/gguf/import-gguf.ts';
import { loadModel } from '#model/weights/load-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { templateSources } from '#model/text/template-sources.ts';
import { byteLevelAlphabet } from 'tokenizers';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { float32Bytes, writeGguf } from '#tests/support/written-gguf.ts';
import type { WrittenTensor, WrittenValue } from '#tests/support/written-gguf.ts';

const root = temporaryFolder();

/** Byte pairs of which two letters are joined, and two added tokens. */
const added = ['<|im_start|>', '<|im_end|>', '<tool_call>', '[PAD]'];
const letters = ['a', 'b', 'Ġ', '1', '2', 'ab', ...added];

const text: Record<string, WrittenValue> = {
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'smollm',
  'tokenizer.ggml.tokens': letters,
  'tokenizer.ggml.token_type': [1, 1, 1, 1, 1, 1, 3, 3, 4, 5],
  'tokenizer.ggml.merges': ['a b'],
  'tokenizer.ggml.bos_token_id': 6,
  'tokenizer.ggml.eos_token_id': 7,
  'tokenizer.chat_template':
    "{% for message in messages %}{{ '<|im_start|>' + message.content + '<|im_end|>' }}{% endfor %}",
};

const names: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
};

function ggufName(name: string): string {
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  if (part !== undefined) return `blk.${layer}.${names[part]}.${kind}`;
  if (name.startsWith('model.embed')) return 'token_embd.weight';
  return name.startsWith('lm_head') ? 'output.weight' : 'output_norm.weight';
}

const configOf = (family: ModelConfig['family']): ModelConfig => ({
  ...tinyModelConfig,
  family,
  vocabSize: letters.length,
  headDim: 4,
  ropeTheta: 100_000,
  tiedEmbeddings: family !== 'qwen2',
  qkNorm: family === 'qwen3',
  qkvBias: family === 'qwen2',
  bosTokenId: 6,
  eosTokenIds: [7],
});

const metadataOf = ({ family, ...config }: ModelConfig): Record<string, WrittenValue> => ({
  'general.architecture': family,
  [`${family}.block_count`]: config.layers,
  [`${family}.context_length`]: config.maxPositions,
  [`${family}.embedding_length`]: config.hiddenSize,
  [`${family}.feed_forward_length`]: config.intermediateSize,
  [`${family}.attention.head_count`]: config.heads,
  [`${family}.attention.head_count_kv`]: config.kvHeads,
  [`${family}.attention.layer_norm_rms_epsilon`]: config.rmsNormEps,
  // A whole number would be written as one.
  [`${family}.rope.freq_base`]: config.ropeTheta + 0.01,
  ...text,
});

/** As llama.cpp's converter lays out Llama's queries and keys: the two rows of a pair side by side. */
function paired(values: Float32Array, heads: number, headDim: number): Float32Array {
  const width = values.length / (heads * headDim);
  const rows = Array.from({ length: heads * headDim }, (_, row) => {
    const [head, within] = [Math.floor(row / headDim), row % headDim];
    const from = head * headDim + (within % 2) * (headDim / 2) + Math.floor(within / 2);
    return [...values.subarray(from * width, (from + 1) * width)];
  });
  return Float32Array.from(rows.flat());
}

function tensorsOf(config: ModelConfig, parameters: ReadonlyMap<string, Float32Array>) {
  const tensors: Record<string, WrittenTensor> = {};
  for (const { name, shape } of parameterSpecs(config)) {
    const values = parameters.get(name)!;
    const turned =
      config.family === 'llama' && /[qk]_proj\.weight$/.test(name)
        ? paired(values, name.includes('q_proj') ? config.heads : config.kvHeads, config.headDim)
        : values;
    tensors[ggufName(name)] = { shape, type: 0, bytes: float32Bytes(turned) };
  }
  return tensors;
}

interface Written {
  metadata?: Record<string, WrittenValue>;
  tensors?: Record<string, WrittenTensor>;
  without?: string;
}

function written(name: string, config: ModelConfig, { metadata, tensors, without }: Written = {}) {
  const parameters = initialParameters(config, new KeyedRng(3));
  const all = { ...tensorsOf(config, parameters), ...tensors };
  if (without !== undefined) delete all[without];
  const file = join(root, `${name}.gguf`);
  writeGguf(file, { ...metadataOf(config), ...metadata }, all);
  return { file, folder: join(root, name), parameters };
}

const json = (folder: string, file: string): unknown =>
  JSON.parse(readFileSync(join(folder, file), 'utf8'));

test.each(['llama', 'qwen2', 'qwen3'] as const)('%s is imported exactly', async (family) => {
  const config = configOf(family);
  const { file, folder, parameters } = written(family, config);
  await importGguf(file, folder, 'F32');
  const loaded = await loadModel(folder);
  expect(loaded.config).toEqual({ ...config, ropeTheta: 100_000.01 });
  expect(loaded.parameters).toEqual(parameters);
});

test('the tokenizer keeps added tokens whole, splits digits and joins pairs', async () => {
  const { file, folder } = written('text', configOf('llama'));
  await importGguf(file, folder, 'F32');
  const tokenizerFile = json(folder, 'tokenizer.json') as { model: { vocab: object } };
  // The ten tokens are not all bytes, which a tokenizer must have.
  const bytes = byteLevelAlphabet().map((sign, at): [string, number] => [sign, 100 + at]);
  const { model } = tokenizerFile;
  const vocab = { ...Object.fromEntries(bytes), ...model.vocab };
  const tokenizer = new Tokenizer({ ...tokenizerFile, model: { ...model, vocab } }, {});
  const ids = tokenizer.encodeTemplate('<|im_start|>ab 12<tool_call>b<|im_end|>');
  expect(ids).toEqual([6, 5, 2, 3, 4, 8, 1, 7]);
  expect(tokenizer.decode([6, 5, 2, 3])).toBe('<|im_start|>ab 1');
  // Other readers number an added token anew that is not among these. The last of the ten is unused.
  const own = letters.slice(0, 9).map((token, id) => [token, id]);
  expect(tokenizerFile.model.vocab).toEqual(Object.fromEntries(own));
  expect(json(folder, 'tokenizer_config.json')).toMatchObject({
    bos_token: '<|im_start|>',
    eos_token: '<|im_end|>',
    pad_token: null,
    chat_template: text['tokenizer.chat_template'],
  });
});

test("a given chat template replaces the file's own", async () => {
  const { file, folder } = written('template', configOf('llama'));
  const given = "{% for m in messages %}{{ m.content + '<|im_end|>' }}{% endfor %}";
  await importGguf(file, folder, 'F32', given);
  expect(await templateSources(folder)).toEqual({ default: given });
  expect(json(folder, 'tokenizer_config.json')).not.toHaveProperty('chat_template');
});

test('factors of a published scaling of Llama 3 become that scaling', async () => {
  const config = { ...configOf('llama'), headDim: 16, hiddenSize: 64, ropeTheta: 500_000.01 };
  const turns = { lowFrequencyTurns: 1, highFrequencyTurns: 4 };
  const ropeScaling = { type: 'llama3', factor: 32, ...turns, originalPositions: 8192 } as const;
  const plain = inverseFrequencies(16, config.ropeTheta);
  const scaled = inverseFrequencies(16, config.ropeTheta, ropeScaling);
  const factors = Float32Array.from(plain, (value, i) => value / scaled[i]!);
  const tensor = { shape: [8], type: 0, bytes: float32Bytes(factors) };
  const metadata = { 'llama.rope.freq_base': 500_000.01 };
  const scaledFile = { metadata, tensors: { 'rope_freqs.weight': tensor } };
  const { file, folder } = written('scaled', config, scaledFile);
  await importGguf(file, folder, 'F32');
  expect((await loadModel(folder)).config.ropeScaling).toEqual(ropeScaling);
});

/** An import that must fail with `MODEL_INVALID` and leave no folder. */
async function refuses({ file, folder }: ReturnType<typeof written>, message: RegExp) {
  const importing = importGguf(file, folder, 'F32');
  await expect(importing).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  await expect(importing).rejects.toThrow(file);
  expect(existsSync(folder)).toBe(false);
}

describe('An import', () => {
  const tensor = (name: string, changes = {}) => ({
    tensors: { [name]: { shape: [16], type: 0, bytes: new Uint8Array(64), ...changes } },
  });
  const norm = (changes: object) => tensor('output_norm.weight', changes);
  const short = norm({ shape: [4], bytes: new Uint8Array(16) });
  const factors = tensor('rope_freqs.weight', { shape: [2], bytes: new Uint8Array(8) });
  const meta = (key: string, value: WrittenValue) => ({ metadata: { [key]: value } });
  test.each<[string, Written, RegExp]>([
    ['an unknown architecture', meta('general.architecture', 'gemma3'), /"gemma3"; .*llama, qwen2/],
    ['an unknown type', norm({ type: 12 }), /output_norm.* type 12 .*Q4_0/],
    ['a tokenizer of pieces', meta('tokenizer.ggml.model', 'llama'), /tokenizer is "llama"/],
    ['an unknown way to split text', meta('tokenizer.ggml.pre', 'tekken'), /"tekken"; .*smollm/],
    ['a missing tensor', { without: 'output_norm.weight' }, /no tensor for model\.norm\.weight/],
    ['experts', tensor('blk.0.ffn_gate_inp.weight'), /"blk\.0\.ffn_gate_inp\.weight" is not part/],
    ['a wrong shape', short, /"output_norm\.weight" has shape \[4\]; expected \[16\]/],
    ['a count of experts', meta('llama.expert_count', 8), /llama\.expert_count/],
    ['factors of an unknown scaling', factors, /rope_freqs\.weight has factors/],
    ['an unknown scaling', meta('llama.rope.scaling.type', 'longrope'), /scaling.* "longrope"/],
    ['a tensor inside another', norm({ at: 32 }), /inside of.* ends at \d+/],
    ['a misaligned tensor', norm({ at: 4 }), /a multiple of 32/],
  ])('refuses a file with %s', async (name, more, message) => {
    await refuses(written(name.replaceAll(' ', '-'), configOf('llama'), more), message);
  });

  test.each<[string, number, number, RegExp]>([
    ['Q4_0', 2, 18, / holds -Infinity in block 3 of Q4_0, value 96/],
    ['Q4_1', 3, 20, / holds NaN in block 3 of Q4_1, value 96/],
    ['Q8_0', 8, 34, / holds NaN in block 3 of Q8_0, value 96/],
    ['F16', 1, 2, /"token_embd\.weight" holds Infinity in block 3 of F16, value 3/],
  ])('refuses a scale of %s that is not a number', async (name, type, blockBytes, message) => {
    const config = { ...configOf('llama'), headDim: 16, hiddenSize: 64 };
    const weights = letters.length * config.hiddenSize;
    const bytes = Buffer.alloc(type === 1 ? weights * 2 : (weights / 32) * blockBytes);
    // Infinity as float16: a block whose weights are all 0 then holds NaN.
    bytes.writeUInt16LE(0x7c00, 3 * blockBytes);
    const shape = [letters.length, config.hiddenSize];
    const tensors = { 'token_embd.weight': { shape, type, bytes } };
    await refuses(written(`not-a-number-${name}`, config, { tensors }), message);
  });

  test.each([
    ['is cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 40)],
    ['is no GGUF file', () => Buffer.from('no such thing, and long enough to be looked at')],
    ['ends in its header', (bytes: Buffer) => bytes.subarray(0, 200)],
  ])('refuses a file that %s', async (name, spoil) => {
    const made = written(name.replaceAll(' ', '-'), configOf('qwen3'));
    writeFileSync(made.file, spoil(readFileSync(made.file)));
    await refuses(made, /GGUF|cut short|ends/);
  });
});

/** 0.5 and -2 in float16. */
const half = [0x00, 0x38];
const minusTwo = [0x00, 0xc0];
/** Low halves 0, 1, … 15, high halves 15, 14, … 0. */
const lows = Array.from({ length: 16 }, (_, i) => i);
const quarters = [...lows, ...lows.toReversed()];
const pairs = lows.map((i) => ((15 - i) << 4) | i);
const signed = Array.from({ length: 32 }, (_, i) => i - 16);
const bytes = signed.map((q) => (256 + q) % 256);

test.each<[string, string, number[], number[]]>([
  ['half a byte minus 8', 'Q4_0', [...half, ...pairs], quarters.map((q) => (q - 8) * 0.5)],
  [
    'half a byte times a scale, plus a minimum',
    'Q4_1',
    [...half, ...minusTwo, ...pairs],
    quarters.map((q) => q * 0.5 - 2),
  ],
  [
    'a signed byte times a scale for 32',
    'Q8_0',
    [...half, ...bytes, ...minusTwo, ...bytes],
    [...signed.map((q) => q * 0.5), ...signed.map((q) => q * -2)],
  ],
  ['the value itself', 'F16', [...half, ...minusTwo], [0.5, -2]],
  ['the value itself', 'BF16', [0x00, 0x3f, 0x00, 0xc0], [0.5, -2]],
  ['the value itself', 'F32', [0, 0, 0, 0x3f, 0, 0, 0, 0xc0], [0.5, -2]],
])('the stored number is %s: %s', (_, name, from, expected) => {
  const stored = [...storedTypes.values()].find((one) => one.name === name)!;
  const into = new Float32Array(expected.length);
  // Not at the beginning of its buffer, as pieces of files are.
  stored.widen(Uint8Array.from([0, ...from]).subarray(1), into);
  expect([...into]).toEqual(expected);
});
