import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { prepareRun } from '../../agent_rl/compose/prepare-run.ts';
import { sft } from '../../agent_rl/jobs/sft/sft.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Message } from '../../agent_rl/core/message.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { conversationLine } from '../../dataset/demonstrations/conversations.ts';
import { copyLanguageModelFiles } from '../../model/text/language-model.ts';
import { loadModel, saveModel } from '../../model/weights/load-model.ts';
import type { Starter } from './starters.ts';
import { teacherConversations } from './teacher-conversations.ts';
import { trainTokenizer } from './train-tokenizer.ts';

export interface StarterOptions {
  starter: Starter;
  seed: number;
  /** Folder that the finished model goes to. */
  out: string;
  /** Run file of the supervised training. */
  config: string;
  /** The teacher makes no mistakes. */
  reliable: boolean;
  print: (text: string) => void;
}

const tokenizerConfig = `${JSON.stringify(
  {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<|im_start|>',
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    clean_up_tokenization_spaces: false,
    model_max_length: 1024,
  },
  null,
  1,
)}\n`;

/** Conversations the tokenizer is trained on; more change nothing it keeps. */
const tokenizerConversations = 4000;

/** Makes a starter model from nothing: a tokenizer trained on conversations, fresh weights, supervised training. */
export async function makeStarter(options: StarterOptions): Promise<void> {
  const { starter, seed, out, reliable, print } = options;
  const prepared = await prepareRun({
    file: options.config,
    flags: [{ source: '--seed', path: 'run.seed', value: seed }],
  });
  const { datasets, dataset, model, train } = prepared.loaded.config;
  const count = train.iterations * train.batchSize;
  const conversations = await teacherConversations(prepared, seed, count, { reliable });
  // Supervised training is refused without a folder.
  const { dir = '' } = datasets[0]!;
  await mkdir(dir, { recursive: true });
  const file = path.join(dir, `${dataset.trainSplit}.jsonl`);
  const lines = conversations.map((messages) => `${conversationLine({ messages })}\n`);
  await writeFile(file, lines.join(''));
  print(`${file}: ${conversations.length} conversations`);

  const fresh = model.path;
  await makeFresh(fresh, starter, { conversations, seed });
  print(`${fresh}: tokenizer of ${starter.model.vocabSize} entries and fresh weights`);

  const { signal } = new AbortController();
  const result = await sft({ ...prepared, dryRun: false, signal, print });
  const trained = await loadModel(String(result['checkpoint']));
  await mkdir(out, { recursive: true });
  await rm(path.join(out, 'model.safetensors'), { force: true });
  await saveModel(out, { ...trained, storedDtype: 'F32' });
  await copyLanguageModelFiles(fresh, out);
  print(`${out}: weights ${String(result['weightsSha256'])}`);
}

/** A model folder with a trained tokenizer and untrained weights. */
async function makeFresh(
  folder: string,
  { model, weights, pieces, between }: Starter,
  { conversations, seed }: { conversations: readonly (readonly Message[])[]; seed: number },
): Promise<void> {
  const texts = conversations
    .slice(0, tokenizerConversations)
    .flatMap((one) => one.map((message) => textOf(message, between)));
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'tokenizer.json'),
    await trainTokenizer(texts, model.vocabSize, pieces),
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
