import { runLength, shippedNotes } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { throwIfFailed } from '../../core/stray-failure.ts';
import type { Transcript } from '../../core/transcript.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import {
  createLog,
  type Metrics,
  MetricsWriter,
  ProcessTreeMemory,
  withProgress,
  writeFileAtomic,
} from '../../telemetry/index.ts';
import { createRunFolder, type RunFolder } from '../../runs/run-folder.ts';
import { SFTTrainer } from '../../trainer/sft-trainer.ts';
import { paddedLength } from '../../learner/train-batch.ts';
import { readConversations } from '../../../dataset/demonstrations/conversations.ts';
import { openLanguageModelFolder } from '../../../model/text/language-model.ts';
import { LanguageModelPolicy } from '../../policies/language-model-policy.ts';
import { saveCheckpoint } from '../../runs/checkpoints.ts';
import { choosePlugins } from '../../compose/plugins/choose-plugins.ts';
import { EngineClient } from '../../engine-thread/engine-client.ts';
import { engineOptions } from '../../compose/engine-options.ts';
import { modelFolder, textFolder } from '../../../model/find/model-folder.ts';
import { openToolCallFormat } from '../../compose/plugins/open-tool-call-format.ts';
import { requireTrainable } from '../../compose/plugins/require-trainable.ts';
import { defaultRunName } from '../../runs/resume-point.ts';
import { writeRunConfig } from '../../runs/run-inputs.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { startingWeights } from '../../compose/model-request.ts';
import { trainOptions } from './trainer-options.ts';
import { unlessStopped } from '../../compose/unless-stopped.ts';
import { requireTrainableModel } from '../../compose/quantization.ts';
import { splitFiles } from '../../../dataset/tasks/task-files.ts';

/**
 * Supervised training on conversations, `<dataset.trainSplit>.jsonl` of each folder, with the loss on what
 * assistants said. Tools named in the config are shown in the prompt as in rollouts.
 */
export async function runSft(options: TrainingOptions): Promise<JobResult> {
  const { loaded, plugins, print } = options;
  const { config, file } = loaded;
  if (options.resume !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--resume continues reinforcement learning; a supervised run cannot be continued. Start it anew, or give its checkpoint with --model.',
    );
  }
  requireTrainable(loaded, plugins);
  const chosen = choosePlugins(loaded, plugins);
  const folderOfModel = modelFolder(config);
  await requireTrainableModel(config);
  const model = await openLanguageModelFolder(await textFolder(folderOfModel));
  const policy = new LanguageModelPolicy(
    model,
    noGenerator,
    policySettings(chosen.policy.settings),
    openToolCallFormat({ chosen, plugins, model }),
  );
  for (const note of policy.notes) print(`Note: ${note}`);
  const splits = splitFiles(config.datasets, config.dataset.trainSplit);
  const conversations = (await Promise.all(splits.map((split) => readConversations(split)))).flat();
  const tools: readonly ToolSpec[] = chosen.tools.map(({ entry }) => entry.spec);
  const examples = conversations.map((messages): Example =>
    policy.demonstrate(messages, tools).record(),
  );
  const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0);
  const { batchSize } = config.train;
  const { last: iterations } = runLength(config);
  print(
    `Plan\n  conversations ${examples.length}, ${tokens} tokens\n  updates       ${iterations} steps of ${batchSize} conversations = ${((iterations * batchSize) / examples.length).toFixed(2)} passes`,
  );
  if (options.dryRun) return { dryRun: true, conversations: examples.length, tokens };

  const memory = new ProcessTreeMemory();
  memory.start();
  const started = performance.now();
  try {
    const opening = EngineClient.open(
      engineOptions(config, {
        ...(await startingWeights(config)),
        rows: 1,
        maxContextTokens: 16,
        training: {
          longestTokens: Math.max(...examples.map((example) => example.tokens.length)),
          loss: { name: 'cross_entropy' },
        },
      }),
    );
    const engine = await unlessStopped(opening, options.signal, (late) => late.close());
    try {
      // Only now: a run whose device is not there leaves no folder behind.
      const folder = createRunFolder({
        outputDir: config.run.outputDir,
        name: config.run.name,
        otherwise: defaultRunName(file, config.run.seed),
      });
      writeRunConfig(folder, config);
      return await train({ options, examples, tokens, engine, folder, memory, started });
    } finally {
      await engine.close();
    }
  } finally {
    memory.halt();
  }
}

type Example = ReturnType<Transcript['record']>;

interface SftRun {
  options: TrainingOptions;
  examples: readonly Example[];
  /** In all examples together. */
  tokens: number;
  engine: EngineClient;
  folder: RunFolder;
  memory: ProcessTreeMemory;
  /** In milliseconds of the clock that only goes forward. */
  started: number;
}

async function train(run: SftRun): Promise<JobResult> {
  const { options, examples, tokens, engine, folder, memory, started } = run;
  const { config } = options.loaded;
  const log = createLog({ level: config.run.logLevel, file: folder.log });
  for (const note of shippedNotes(options.loaded)) log.info(note);
  try {
    const { trainer, interrupted, loss } = await updates(run);
    const step = trainer.state().iteration;
    const saved = await saveCheckpoint({
      folder: folder.checkpoints,
      name: `step-${step}`,
      step,
      state: trainer.state(),
      learner: engine,
      textFolder: await textFolder(modelFolder(config)),
    });
    throwIfFailed(options.signal);
    const usage = await memory.sample();
    const summary = {
      seed: config.run.seed,
      iterations: step,
      interrupted,
      loss,
      conversations: examples.length,
      tokens,
      wallSeconds: (performance.now() - started) / 1000,
      cpuSeconds: usage.cpuSeconds,
      weightsSha256: saved.weightsSha256,
      checkpoint: saved.path,
      peakRssBytes: (await memory.stop()).peakRssBytes,
    };
    writeFileAtomic(folder.summary, `${JSON.stringify(summary, null, 1)}\n`);
    options.print(`Loss of the last step ${loss.toFixed(4)}\nCheckpoint: ${saved.path}`);
    return { run: folder.path, ...summary };
  } catch (thrown) {
    log.error(`The run ended: ${String(thrown)}`);
    throw thrown;
  } finally {
    await log.close();
  }
}

/** All updates, each in `metrics.jsonl`; the loss is that of the last. */
async function updates({ options, examples, engine, folder }: SftRun) {
  const { config } = options.loaded;
  const { batchSize } = config.train;
  const { last: iterations } = runLength(config);
  const metrics = new MetricsWriter(folder.metrics);
  let loss = Number.NaN;
  try {
    return await withProgress({ label: 'sft', total: iterations }, async (bar) => {
      const onIteration = (iteration: number, values: Metrics): void => {
        metrics.write(iteration, values);
        loss = values['train/loss'] ?? loss;
        const tokensPerSecond = values['speed/trainTokensPerSecond'];
        if (iteration % 20 === 0 || iteration === iterations) {
          bar.update(iteration, tokensPerSecond === undefined ? {} : { tokensPerSecond });
        }
      };
      const trainer = new SFTTrainer(
        { learner: engine, examples, paddedLength, observer: { onIteration } },
        {
          seed: config.run.seed,
          batchSize,
          microBatchTokens: config.algorithm.microBatchTokens,
          train: trainOptions(config),
        },
      );
      const { interrupted } = await trainer.train(options.signal);
      return { trainer, interrupted, loss };
    });
  } finally {
    metrics.close();
  }
}

const policySettings = ({ thinking, templateDate }: Readonly<Record<string, unknown>>) => ({
  thinking: thinking === true,
  ...(typeof templateDate === 'string' && { templateDate }),
});

/** Supervised training never samples. */
const noGenerator = {
  maxContextTokens: 0,
  generate: () => Promise.reject(new Error('Supervised training does not sample.')),
  release: () => undefined,
};
