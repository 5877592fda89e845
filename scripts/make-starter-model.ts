import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { builtinPlugins } from '../agent_rl/compose/builtin-plugins.ts';
import { choosePlugins } from '../agent_rl/compose/choose-plugins.ts';
import { runSft } from '../agent_rl/compose/run-sft.ts';
import { loadConfig } from '../agent_rl/config/index.ts';
import { KeyedRng } from '../agent_rl/core/keyed-rng.ts';
import { packageRoot } from '../agent_rl/core/package-root.ts';
import { conversationLine } from '../dataset/conversations.ts';
import { codeDemonstrations } from '../dataset/demonstrations.ts';
import { loadModel, saveModel } from '../model/load-model.ts';
import { copyLanguageModelFiles } from '../model/language-model.ts';
import { initialParameters } from '../model/parameters.ts';
import { starterModelConfig } from './starter-model/starter-model-config.ts';
import { tokenizerConfig } from './starter-model/tokenizer-config.ts';
import { trainTokenizer } from './starter-model/train-tokenizer.ts';

/*
 * Makes the starter model from nothing: conversations of the unreliable teacher, a tokenizer trained on them, fresh
 * weights, supervised training. `make-starter-model [--seed N] [--out FOLDER] [--config FILE]`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'model/starter' },
    config: { type: 'string', default: 'configs/code_exec_sft.yaml' },
  },
});
const seed = Number(values.seed);
const loaded = loadConfig({
  file: values.config,
  flags: [{ source: '--seed', path: 'run.seed', value: seed }],
});
const { config } = loaded;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Conversations the tokenizer is trained on; more change nothing it keeps. */
const tokenizerConversations = 4000;

const count = config.train.iterations * config.train.batchSize;
const conversations = [...codeDemonstrations(seed, count)].map(({ messages }) => messages);
await mkdir(config.dataset.dir, { recursive: true });
const file = path.join(config.dataset.dir, `${config.dataset.trainSplit}.jsonl`);
await writeFile(file, conversations.map((messages) => `${conversationLine(messages)}\n`).join(''));
say(`${file}: ${conversations.length} conversations`);

const fresh = config.model.path;
const texts = conversations
  .slice(0, tokenizerConversations)
  .flatMap((messages) =>
    messages.map((message) =>
      message.role === 'assistant'
        ? `assistant\n${message.reasoning ?? ''}${message.content}${(message.toolCalls ?? []).map((call) => JSON.stringify({ name: call.name, arguments: call.arguments }).replaceAll('":', '": ').replaceAll(',"', ', "')).join('')}`
        : `${message.role}\n${message.content}`,
    ),
  );
await mkdir(fresh, { recursive: true });
await writeFile(
  path.join(fresh, 'tokenizer.json'),
  await trainTokenizer(texts, starterModelConfig.vocabSize),
);
await writeFile(path.join(fresh, 'tokenizer_config.json'), tokenizerConfig);
await copyFile(
  path.join(packageRoot(), 'scripts/starter-model/chat_template.jinja'),
  path.join(fresh, 'chat_template.jinja'),
);
await saveModel(fresh, {
  config: starterModelConfig,
  parameters: initialParameters(starterModelConfig, new KeyedRng(seed, 'starter-model')),
  storedDtype: 'F32',
});
say(`${fresh}: tokenizer and fresh weights`);

const plugins = builtinPlugins();
const result = await runSft({
  loaded,
  plugins,
  chosen: choosePlugins(loaded, plugins),
  dryRun: false,
  signal: new AbortController().signal,
  print: say,
});
const trained = await loadModel(String(result['checkpoint']));
await rm(path.join(values.out, 'model.safetensors'), { force: true });
await saveModel(values.out, { ...trained, storedDtype: 'F32' });
await copyLanguageModelFiles(fresh, values.out);
say(`${values.out}: weights ${String(result['weightsSha256'])}`);
