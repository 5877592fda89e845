import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { embeddingName, headName, parameterSpecs } from '#model/config/parameters.ts';
import { openLanguageModelFolder, type LanguageModel } from '#model/text/language-model.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { readJson } from './acme-project.ts';
import { qwen3Folder } from './qwen3.ts';
import { writeBelow } from './temporary-folder.ts';
import { tinyModelConfig } from './tiny-model.ts';

// Tiny models of a real family, tokenizer and chat template. Layers are random. Embedding and head make one token follow
// another about as often as in given texts, so that an untrained model writes calls and answers now and then.

export type QwenFamily = 'qwen2' | 'qwen3';

/** Tokens that Qwen3's tokenizer has and that of Qwen2.5 has not: tool_response and think, opened and closed. */
const firstOfQwen3 = 151_665;

function writeTokenizer(folder: string, family: QwenFamily): void {
  mkdirSync(folder, { recursive: true });
  const names = ['tokenizer.json', 'tokenizer_config.json'] as const;
  for (const name of names) cpSync(join(qwen3Folder, name), join(folder, name));
  if (family === 'qwen3') return;
  const json = readJson(folder, names[0]);
  const { chat_template: _, ...rest } = readJson(folder, names[1]);
  const added = (json['added_tokens'] as { id: number }[]).filter(({ id }) => id < firstOfQwen3);
  writeBelow(folder, names[0], JSON.stringify({ ...json, added_tokens: added }));
  writeBelow(folder, names[1], JSON.stringify(rest));
  const template = join(packageRoot(), 'tests', 'fixtures', 'qwen2.5', 'chat_template.jinja');
  cpSync(template, join(folder, 'chat_template.jinja'));
}

/** Two layers, 64 wide, and the vocabulary of the published models. */
const tinyShape = (family: QwenFamily): ModelConfig => ({
  ...tinyModelConfig,
  family,
  vocabSize: 151_936,
  hiddenSize: 64,
  headDim: 16,
  intermediateSize: 96,
  ropeTheta: 1e6,
  maxPositions: 8192,
  bosTokenId: undefined,
  tiedEmbeddings: false,
  qkNorm: family === 'qwen3',
  qkvBias: family === 'qwen2',
  eosTokenIds: [151_645],
});

/** What ends the cue of a turn: Qwen's, and Qwen3's without a thought. */
const cueEnds = ['\n', '\n\n'];

/** A folder with tokenizer, template and a model that says texts like these, which end their turns. */
export async function writeChainModel(
  folder: string,
  { family, texts }: { family: QwenFamily; texts: readonly string[] },
): Promise<void> {
  writeTokenizer(folder, family);
  const model = await openLanguageModelFolder(folder);
  const config = tinyShape(family);
  const weights = randomParameters(config);
  writeChain(weights, config, followers(model, texts));
  await saveModel(folder, { config, parameters: weights, storedDtype: 'BF16' });
}

function randomParameters(config: ModelConfig): Map<string, Float32Array> {
  const wide = new Set([embeddingName, headName(config)]);
  return new Map(
    parameterSpecs(config).map(({ name, shape }) => {
      const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
      const rng = new KeyedRng('chain model', name);
      const fill = (): number => (name.endsWith('norm.weight') ? 1 : 0.02 * rng.normal());
      return [name, wide.has(name) ? values : values.map(fill)];
    }),
  );
}

/** How often a token follows another. */
type Followers = ReadonlyMap<number, ReadonlyMap<number, number>>;

function followers({ tokenizer, endOfTurnId }: LanguageModel, texts: readonly string[]): Followers {
  const counts = new Map<number, Map<number, number>>();
  const count = (before: number, after: number): void => {
    const row = counts.get(before) ?? new Map<number, number>();
    counts.set(before, row.set(after, (row.get(after) ?? 0) + 1));
  };
  for (const text of texts) {
    const said = [...tokenizer.encodeTemplate(text), endOfTurnId];
    for (const cue of cueEnds) count(tokenizer.encodeTemplate(cue)[0]!, said[0]!);
    for (const [index, token] of said.entries()) if (index > 0) count(said[index - 1]!, token);
  }
  return counts;
}

/** Above all tokens that follow nothing, of which there are e^12. */
const aboveOthers = 20;

function writeChain(
  weights: ReadonlyMap<string, Float32Array>,
  config: ModelConfig,
  chain: Followers,
): void {
  const { hiddenSize: width } = config;
  if (chain.size > width) throw new Error(`${chain.size} tokens do not fit into ${width} places.`);
  const [embedding, head] = [weights.get(embeddingName)!, weights.get(headName(config))!];
  for (const [place, [before, row]] of [...chain].entries()) {
    const total = [...row.values()].reduce((sum, one) => sum + one, 0);
    embedding[before * width + place] = 1;
    // The last norm makes of a single 1 the square root of the width.
    for (const [after, times] of row)
      head[after * width + place] = (aboveOthers + Math.log(times / total)) / Math.sqrt(width);
  }
}
