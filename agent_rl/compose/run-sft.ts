import { join, resolve } from 'node:path';
import { availableParallelism } from 'node:os';

import { resolvedYaml } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import type { Transcript } from '../core/transcript.ts';
import type { ToolSpec } from '../core/tool.ts';
import {
  createLog,
  createProgress,
  createRunFolder,
  MetricsWriter,
  ProcessTreeMemory,
  writeFileAtomic,
} from '../telemetry/index.ts';
import { SFTTrainer } from '../trainer/sft-trainer.ts';
import { paddedLength } from '../learner/train-batch.ts';
import { readConversations } from '../../dataset/conversations.ts';
import { openLanguageModelFolder } from '../../model/language-model.ts';
import { LanguageModelPolicy } from '../policies/language-model-policy.ts';
import { saveCheckpoint } from './checkpoints.ts';
import { choosePlugins } from './choose-plugins.ts';
import { EngineClient } from './engine-client.ts';
import { modelFolder } from './model-folder.ts';
import { defaultRunName } from './resume-point.ts';
import type { JobResult, TrainingOptions } from './run-options.ts';

/**
 * Supervised training on conversations, `<dataset.dir>/<dataset.trainSplit>.jsonl`, with the loss on what
 * assistants said. Tools named in the config are shown in the prompt as in rollouts.
 */
export async function runSft(options: TrainingOptions): Promise<JobResult> {
  const { loaded, plugins, print, signal } = options;
  const { config, file } = loaded;
  if (options.resume !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--resume continues reinforcement learning; a supervised run cannot be continued. Start it anew, or give its checkpoint with --model-path.',
    );
  }
  const chosen = choosePlugins(loaded, plugins);
  const folderOfModel = modelFolder(config);
  const model = await openLanguageModelFolder(folderOfModel);
  const policy = new LanguageModelPolicy(model, noGenerator, {
    thinking: chosen.policy.settings['thinking'] === true,
  });
  const conversations = await readConversations(
    join(resolve(config.dataset.dir), `${config.dataset.trainSplit}.jsonl`),
  );
  const tools: readonly ToolSpec[] = chosen.tools.map(({ entry }) => entry.spec);
  const examples = conversations.map((messages): ReturnType<Transcript['record']> =>
    policy.demonstrate(messages, tools).record(),
  );
  const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0);
  const { iterations, batchSize } = config.train;
  print(
    `Plan\n  conversations ${examples.length}, ${tokens} tokens\n  updates       ${iterations} steps of ${batchSize} conversations = ${((iterations * batchSize) / examples.length).toFixed(2)} passes`,
  );
  if (options.dryRun) return { dryRun: true, conversations: examples.length, tokens };

  const folder = createRunFolder({
    outputDir: config.run.outputDir,
    name: config.run.name,
    otherwise: defaultRunName(file, config.run.seed),
  });
  writeFileAtomic(folder.config, resolvedYaml(config));
  const log = createLog({ level: config.run.logLevel, file: folder.log });
  const memory = new ProcessTreeMemory();
  memory.start();
  const started = performance.now();
  const engine = await EngineClient.open({
    modelFolder: folderOfModel,
    device: config.run.device,
    threads: config.run.engineThreads ?? availableParallelism(),
    rows: 1,
    maxContextTokens: 16,
    microBatchTokens: config.algorithm.microBatchTokens,
    reference: false,
  });
  const metrics = new MetricsWriter(folder.metrics);
  const bar = createProgress({ label: 'sft', total: iterations });
  let loss = Number.NaN;
  try {
    const trainer = new SFTTrainer(
      {
        learner: engine,
        examples,
        paddedLength,
        observer: {
          onIteration: (iteration, values) => {
            metrics.write(iteration, values);
            loss = values['train/loss'] ?? loss;
            const tokensPerSecond = values['speed/trainTokensPerSecond'];
            if (iteration % 20 === 0 || iteration === iterations) {
              bar.update(iteration, tokensPerSecond === undefined ? {} : { tokensPerSecond });
            }
          },
        },
      },
      {
        seed: config.run.seed,
        batchSize,
        microBatchTokens: config.algorithm.microBatchTokens,
        train: config.train,
      },
    );
    const { interrupted } = await trainer.train(signal);
    bar.stop();
    const step = trainer.state().iteration;
    const saved = await saveCheckpoint({
      folder: folder.checkpoints,
      name: `step-${step}`,
      step,
      state: trainer.state(),
      learner: engine,
      modelFolder: folderOfModel,
    });
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
    print(`Loss of the last step ${loss.toFixed(4)}\nCheckpoint: ${saved.path}`);
    return { run: folder.path, ...summary };
  } finally {
    metrics.close();
    await engine.close();
    await log.close();
  }
}

/** Supervised training never samples. */
const noGenerator = {
  maxContextTokens: 0,
  generate: () => Promise.reject(new Error('Supervised training does not sample.')),
  release: () => undefined,
};
