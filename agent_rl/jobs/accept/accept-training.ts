import { prepareRun } from '../../compose/prepare-run.ts';
import type { Override } from '../../config/index.ts';
import type { SettingsInCode } from '../code/agent-in-code.ts';
import type { JobResult } from '../job.ts';
import { train } from '../train/train.ts';
import type { AcceptOptions } from './accept-options.ts';

const caller = 'agent-rl model accept';

/**
 * Trains the model on arithmetic with a calculator: to the middle, and from the checkpoint there to the end.
 *
 * @returns what `summary.json` of the whole run holds
 */
export async function acceptTraining(options: AcceptOptions): Promise<JobResult> {
  const { iterations, signal, print } = options;
  const described = { file: caller, settings: settingsOf(options) };
  const session = async (flags: readonly Override[], resume?: string): Promise<JobResult> => {
    const prepared = await prepareRun({ ...described, flags, training: true }, signal);
    for (const warning of prepared.loaded.warnings) print(`Note: ${warning}`);
    const job = { ...prepared, signal, print, dryRun: false };
    return train({ ...job, ...(resume !== undefined && { resume }) });
  };
  const middle = Math.ceil(iterations / 2);
  const half = { source: caller, path: 'train.maxIterations', value: middle };
  const began = await session([half]);
  return began['interrupted'] === true ? began : session([], String(began['run']));
}

function settingsOf(options: AcceptOptions): SettingsInCode {
  const { model, iterations, loraRank, seed, device, engineThreads, folder } = options;
  return {
    model: {
      path: model,
      ...(loraRank > 0 && { lora: { rank: loraRank, alpha: 2 * loraRank } }),
    },
    policy: { type: 'huggingface', maxTurnTokens: 128, maxContextTokens: 768 },
    tools: [{ type: 'calculator' }],
    environment: {
      type: 'question',
      match: 'number',
      systemPrompt: 'Answer with the number alone, in \\boxed{}. Call the calculator to find it.',
    },
    datasets: [{ generator: { type: 'arithmetic', slices: [], evalTasks: 100 } }],
    // Tells attempts apart that are all wrong or all right: without it many a model would have no gradient to look at.
    rewards: [{ type: 'length', perWord: 0.001, maxCost: 0.1 }],
    rollout: {
      tasksPerStep: 4,
      groupSize: 8,
      workers: 32,
      maxTurns: 3,
      maxEpisodeTokens: 768,
      invalidCallPenalty: 0.1,
    },
    algorithm: { microBatchTokens: 1536 },
    train: {
      iterations,
      learningRate: loraRank > 0 ? 1e-4 : 1e-5,
      recompute: 'blocks',
      // The report judges by stricter bounds, and cannot be written of a run that stopped.
      parityBound: { max: 10, mean: 1 },
    },
    checkpoint: { every: 0 },
    run: {
      seed,
      device,
      outputDir: folder,
      name: 'run',
      previewTasks: 0,
      ...(engineThreads !== undefined && { engineThreads }),
    },
  };
}
