import { totalmem } from 'node:os';

import type { ModelJobOptions } from '../models/model-choice.ts';
import { greedy, type Sampling, type Sampler } from '../../core/services/generator.ts';
import { AgentRlError } from '../../core/errors.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { bucketSize } from '../../engine/program-cache.ts';
import { DecoderPrograms } from '../../generation/programs/decoder-programs.ts';
import { LocalGenerator } from '../../generation/local-generator.ts';
import { LanguageModelPolicy } from '../../policies/language-model-policy.ts';
import { visibleControls, withProgress } from '../../telemetry/index.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { builtinPlugins } from '../../compose/plugins/builtin-plugins.ts';
import { cacheBytes, type CacheRequest, packsWeights } from '../../engine-thread/memory-plan.ts';
import { mebibytes } from '../../telemetry/mebibytes.ts';
import { textFolder } from '../../../model/find/model-folder.ts';
import { parseConversation } from '../../../dataset/demonstrations/openai-form.ts';
import { openToolCallFormat } from '../../compose/plugins/open-tool-call-format.ts';
import { findModel, namesOf, usingModel, type RunningModel } from '../models/using-model.ts';
import type { JobResult } from '../job.ts';
import { noGenerator } from '../no-generator.ts';
import { continuationLine, continueRows, type Continuation } from './continue-rows.ts';
import { refuseExisting, writingFresh } from './fresh-lines.ts';
import { readGenerationRow } from './generation-rows.ts';
import { InputRows } from './input-rows.ts';
import { usageSince, usageText } from './job-usage.ts';
import { openModelTexts, type ModelTexts } from './model-texts.ts';
import { readToolFile } from './tool-file.ts';

export interface GenerateOptions extends ModelJobOptions {
  /** JSONL file of `{"messages": [...]}` and `{"ids": [...]}`; or `prompt`. */
  input?: string;
  /** What a user says. */
  prompt?: string;
  /** File to write, which must not be there; without one the result holds what was generated. */
  output?: string;
  /** JSON file of the tools that are offered to conversations without their own. */
  tools?: string;
  thinking: boolean;
  maxTokens: number;
  sampling: Sampling;
  seed: number;
  /** Of each line. */
  samples: number;
  /** Most samples in flight. */
  batch: number;
}

/**
 * Continues token ids or conversations, a line for each sample of each line of the input and in its order.
 *
 * @throws AgentRlError `DATASET_INVALID` naming every wrong line, before the weights are loaded; `CONFIG_INVALID`,
 * `OUTPUT_UNWRITABLE`, `MODEL_INVALID`, `TOKENIZER_INVALID`, `DEVICE_UNAVAILABLE`, `INTERRUPTED`. There is no output
 * then.
 */
export async function generate(options: GenerateOptions): Promise<JobResult> {
  const { output, print } = options;
  const planned = await plan(options);
  const run = (write: (line: object) => void) =>
    usingModel(planned.found, { ...options, memorySettings: '--batch or --max-tokens' }, (model) =>
      continueAll(planned, { model, options, write }),
    );
  if (output === undefined) {
    const results: { text?: string }[] = [];
    const result = await run((line) => results.push(line));
    for (const one of results) print(visibleControls(one.text ?? JSON.stringify(one)));
    return { ...result, results };
  }
  const result = await writingFresh(output, run);
  const packed = result.packs ? ', weights packed' : '';
  print(
    `${result.samples} samples of ${result.tokens} tokens, ${usageText(result)}${packed}: ${output}`,
  );
  return { output, ...result };
}

/** What is known before the weights are loaded. */
async function plan(options: GenerateOptions) {
  refuseUseless(options);
  const { input, prompt, output, maxTokens, samples, batch } = options;
  const found = await findModel(options);
  if (output !== undefined) refuseExisting(output);
  const texts = await openModelTexts(await textFolder(found.folder));
  const generator = noGenerator('The weights are not loaded.');
  const policy = policyOf(texts, { options, generator });
  const readRow = readGenerationRow({
    model: found.config,
    tools: options.tools === undefined ? [] : readToolFile(options.tools),
    encode: ({ messages, tools }) => {
      if (AgentRlError.is(policy)) throw policy;
      return policy.begin(messages, tools).tokens;
    },
  });
  const single = prompt !== undefined && { messages: [{ role: 'user', content: prompt }] };
  const rows = single
    ? new InputRows('--prompt', readRow, single)
    : new InputRows(input ?? '', readRow, undefined, parseConversation);
  let [lines, longest] = [0, 0];
  const checking = rows.check(({ ids }) => {
    lines += 1;
    longest = Math.max(longest, ids.length);
  });
  await abortableStart(checking, options.signal);
  // Samples in flight, and positions that each can have.
  const workers = Math.min(batch, lines * samples);
  const cache = {
    workers,
    maxContextTokens: Math.min(
      found.config.maxPositions,
      // Few different ones for many lengths.
      bucketSize(longest + maxTokens, { multipleOf: 64, growth: 1.5 }),
    ),
  };
  refuseLargeCache(found.config, cache);
  return { found, texts, rows, lines, cache };
}

async function continueAll(
  { found, texts, rows, lines, cache }: Awaited<ReturnType<typeof plan>>,
  {
    model: { config, engine, parameters },
    options,
    write,
  }: { model: RunningModel; options: GenerateOptions; write: (line: object) => void },
) {
  const { maxContextTokens, workers } = cache;
  const packs = packsWeights(config, { packs: true, device: engine.device });
  const programs = new DecoderPrograms(engine, config, maxContextTokens, { trains: false, packs });
  const generator = new LocalGenerator(programs, { rows: workers, maxContextTokens });
  await generator.setWeights(parameters, 0);
  const policy = policyOf(texts, { options, generator });
  const samples = lines * options.samples;
  const lineEvery = Math.max(workers, Math.ceil(samples / 100));
  const { quiet } = options;
  const started = performance.now();
  let [done, tokens] = [0, 0];
  await withProgress({ label: 'generate', total: samples, lineEvery, quiet }, async (bar) => {
    const onContinuation = (continuation: Continuation): void => {
      write(continuationLine(continuation, texts, rows.file));
      tokens += continuation.tokens.length;
      done += 1;
      bar.update(done);
    };
    await continueRows(rows, {
      ...options,
      generator,
      policy: AgentRlError.is(policy) ? undefined : policy,
      lanes: workers,
      maxPositions: config.maxPositions,
      stopTokens: texts.stopTokens,
      onContinuation,
    });
  });
  await programs.dispose();
  const usage = usageSince(started, tokens);
  const { device } = engine;
  return {
    ...namesOf(found),
    device,
    packs: packs !== undefined,
    lines,
    samples,
    tokens,
    ...usage,
  };
}

const policyOf = (
  { conversations }: ModelTexts,
  { options, generator }: { options: GenerateOptions; generator: Sampler },
): LanguageModelPolicy | AgentRlError =>
  AgentRlError.is(conversations)
    ? conversations
    : new LanguageModelPolicy({
        model: conversations,
        generator,
        settings: { thinking: options.thinking },
        format: openToolCallFormat({
          chosen: { tools: [], toolCallFormat: undefined },
          plugins: builtinPlugins(),
          model: conversations,
        }),
      });

function refuse(message: string): never {
  throw new AgentRlError('CONFIG_INVALID', message);
}

/** @throws AgentRlError `CONFIG_INVALID` for options that together can have no effect. */
function refuseUseless(options: GenerateOptions): void {
  const { input, prompt, samples, sampling } = options;
  if ((input === undefined) === (prompt === undefined)) {
    refuse('Give either --input (a JSONL file) or --prompt (a user message).');
  }
  if (input !== undefined && options.output === undefined) {
    refuse('--input needs --output, the file to write.');
  }
  if (sampling.temperature > 0) return;
  const { topK, topP, minP } = sampling;
  if (topK !== greedy.topK || topP !== greedy.topP || minP !== greedy.minP) {
    refuse(
      '--temperature 0 takes the most likely token, so --top-k, --top-p and --min-p have no effect. Remove them.',
    );
  }
  if (samples > 1)
    refuse(
      `--samples ${samples} at --temperature 0 would all be identical. Use --samples 1, or raise --temperature.`,
    );
}

/** @throws AgentRlError `CONFIG_INVALID` when the machine cannot hold the keys and values of all rows. */
function refuseLargeCache(model: ModelConfig, cache: CacheRequest): void {
  const bytes = cacheBytes(model, cache);
  if (bytes <= totalmem()) return;
  refuse(
    `The cache for --batch ${cache.workers} contexts of up to ${cache.maxContextTokens} tokens needs ${mebibytes(bytes)}, but this machine has ${mebibytes(totalmem())}. Lower --batch or --max-tokens, or shorten the prompts.`,
  );
}
