import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { PreparedRun } from '../../agent_rl/compose/prepare-run.ts';
import { runSft } from '../../agent_rl/jobs/train/sft.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { conversationLine } from '../../dataset/demonstrations/conversations.ts';
import { copyLanguageModelFiles } from '../../model/text/language-model.ts';
import { loadModel, saveModel } from '../../model/weights/load-model.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { initialParameters } from '../../model/config/parameters.ts';
import { tokenizerConfig } from './tokenizer-config.ts';
import { trainTokenizer } from './train-tokenizer.ts';

export interface StarterOptions {
  /** The warm-up's run file. `model.path` is where the fresh weights go, `dataset.dir` where the conversations do. */
  prepared: PreparedRun;
  conversations: readonly (readonly Message[])[];
  /** Of the fresh model; the tokenizer gets as many entries as it has. */
  model: ModelConfig;
  /** Makes the fresh weights. */
  weights: typeof initialParameters;
  /** What the tokenizer keeps apart; see `trainTokenizer`. */
  apart: string;
  /** What the tokenizer sees between a thought, a text and a call. */
  between: string;
  /** Folder that the finished model goes to. */
  out: string;
  say: (text: string) => void;
}

/** Conversations the tokenizer is trained on; more change nothing it keeps. */
const tokenizerConversations = 4000;

/** Makes a starter model from nothing: a tokenizer trained on conversations, fresh weights, supervised training. */
export async function makeStarter(options: StarterOptions): Promise<void> {
  const { prepared, conversations, model, out, say } = options;
  const { config } = prepared.loaded;
  const { dir } = config.datasets[0]!;
  await mkdir(dir, { recursive: true });
  const file = path.join(dir, `${config.dataset.trainSplit}.jsonl`);
  const lines = conversations.map((messages) => `${conversationLine(messages)}\n`);
  await writeFile(file, lines.join(''));
  say(`${file}: ${conversations.length} conversations`);

  const fresh = config.model.path;
  await makeFresh(fresh, { ...options, seed: config.run.seed });
  say(`${fresh}: tokenizer of ${model.vocabSize} entries and fresh weights`);

  const result = await runSft({
    ...prepared,
    dryRun: false,
    signal: new AbortController().signal,
    print: say,
  });
  const trained = await loadModel(String(result['checkpoint']));
  await mkdir(out, { recursive: true });
  await rm(path.join(out, 'model.safetensors'), { force: true });
  await saveModel(out, { ...trained, storedDtype: 'F32' });
  await copyLanguageModelFiles(fresh, out);
  say(`${out}: weights ${String(result['weightsSha256'])}`);
}

/** A model folder with a trained tokenizer and untrained weights. */
async function makeFresh(
  folder: string,
  {
    conversations,
    model,
    weights,
    apart,
    between,
    seed,
  }: Pick<StarterOptions, 'conversations' | 'model' | 'weights' | 'apart' | 'between'> & {
    seed: number;
  },
): Promise<void> {
  const texts = conversations
    .slice(0, tokenizerConversations)
    .flatMap((one) => one.map((message) => textOf(message, between)));
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'tokenizer.json'),
    await trainTokenizer(texts, model.vocabSize, apart),
  );
  await writeFile(path.join(folder, 'tokenizer_config.json'), tokenizerConfig);
  await copyFile(
    path.join(packageRoot(), 'scripts/starter-model/chat_template.jinja'),
    path.join(folder, 'chat_template.jinja'),
  );
  const parameters = weights(model, new KeyedRng(seed, 'starter-model'));
  await saveModel(folder, { config: model, parameters, storedDtype: 'F32' });
}

/** What the tokenizer sees of a message: its words, without the template's own. */
function textOf(message: Message, between: string): string {
  if (message.role !== 'assistant') return `${message.role}\n${message.content}`;
  const calls = (message.toolCalls ?? []).map(({ name, arguments: args }) =>
    JSON.stringify({ name, arguments: args }).replaceAll('":', '": ').replaceAll(',"', ', "'),
  );
  return `assistant\n${[message.reasoning ?? '', message.content, ...calls].join(between)}`;
}
