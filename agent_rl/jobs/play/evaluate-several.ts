import { mean, sum } from '../../algorithms/statistics.ts';
import { attemptsOf, type Config, loadConfig } from '../../config/index.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isJudged, type Part, type Rollout, sampledTokens } from '../../core/rollout.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { intervalNote, rateText } from '../../runs/evaluation-table.ts';
import { runFileOf } from '../../runs/run-folder.ts';
import { evaluationSummary } from '../../runs/summary.ts';
import { compare, type TaskAttempts } from '../../trainer/success-rate.ts';
import type { JobResult } from '../job.ts';
import { attemptTasks, type EvaluationOptions } from './attempt-tasks.ts';
import { type EvaluatedModel, modelsTable } from './models-table.ts';

export interface SeveralOptions extends Omit<EvaluationOptions, 'checkpoint'> {
  /** Run folders, checkpoints or model folders, two or more; the others are compared with the first. */
  checkpoints: readonly string[];
}

/**
 * Attempts the same tasks, as one run file has them, with one model after another, and shows them in one table. The draws
 * of all models have the same keys.
 *
 * @throws AgentRlError `CONFIG_INVALID` where two are the same model, or the run replays what one model said
 */
export async function evaluateSeveral(options: SeveralOptions): Promise<JobResult> {
  const { checkpoints, print, signal, loaded, chosen } = options;
  if (chosen.generator.entry.spec.name === 'replay')
    throw new AgentRlError(
      'CONFIG_INVALID',
      'generator.type replay gives every model the tokens of the recorded run, so there is nothing to compare. Use another generator.',
    );
  const folders = await differentFolders(checkpoints, print);
  for (const name of checkpoints) noteOtherSettings(name, loaded.config, print);
  const { seed } = loaded.config.run;
  const models: (EvaluatedModel & { folder: string })[] = [];
  const { samples, temperature } = attemptsOf(loaded.config.eval);
  let split = options.split ?? loaded.config.dataset.evalSplit;
  let tasks = 0;
  for (const [index, name] of checkpoints.entries()) {
    if (signal.aborted) break;
    const checkpoint = folders[index] ?? name;
    const attempted = await attemptTasks({ ...options, checkpoint });
    ({ split } = attempted);
    tasks = attempted.run.tasks.evaluation.length;
    const { rollouts, ...evaluation } = attempted.result;
    const [baseline] = models;
    const difference = baseline && compare(counted(baseline), counted({ evaluation }), seed);
    models.push({
      name,
      folder: checkpoint,
      evaluation,
      ...costsOf(rollouts),
      ...(difference && { difference }),
    });
    print(`${name}: ${rateText(evaluation.chosen ?? evaluation)}`);
  }
  print(`${split}, ${tasks} tasks (temperature ${temperature}, attempts per task: ${samples})`);
  if (signal.aborted) print('  Interrupted: these results cover the attempts made so far.');
  print(modelsTable(models));
  print(`  ${intervalNote}; change: paired by task`);
  return {
    config: loaded.file,
    split,
    strategy: loaded.config.eval.strategy,
    tasks,
    interrupted: signal.aborted,
    models: models.map(({ evaluation, folder, name, ...more }) =>
      Object.assign({ name, model: folder }, more, evaluationSummary(evaluation)),
    ),
  };
}

/** What models are compared by: the attempts that the strategy chose, where it chooses. */
const counted = ({ evaluation }: Pick<EvaluatedModel, 'evaluation'>): readonly TaskAttempts[] =>
  evaluation.chosen?.perTask ?? evaluation.perTask;

/** @throws AgentRlError `CONFIG_INVALID` where two names are of one folder */
async function differentFolders(
  checkpoints: readonly string[],
  warn: (text: string) => void,
): Promise<string[]> {
  const folders: string[] = [];
  for (const name of checkpoints) {
    const folder = await checkpointAt(name, warn);
    const same = folders.indexOf(folder);
    if (same >= 0)
      throw new AgentRlError(
        'CONFIG_INVALID',
        `${checkpoints[same]} and ${name} are the same model, ${folder}. Name each model once.`,
      );
    folders.push(folder);
  }
  return folders;
}

/** What an agent is besides its weights. */
const ofAgent = ['environment', 'agents', 'tools', 'policy'] as const;

/** Says where a model was trained as another agent than it is attempted as. */
function noteOtherSettings(name: string, config: Config, print: (text: string) => void): void {
  const file = runFileOf(name);
  if (file === undefined) return;
  try {
    const { config: own } = loadConfig({ file });
    const others = ofAgent.filter(
      (key) => JSON.stringify(own[key]) !== JSON.stringify(config[key]),
    );
    if (others.length > 0)
      print(
        `Note: this evaluation uses a different ${others.join(', ')} than the training of ${name}.`,
      );
  } catch (thrown) {
    print(`Note: cannot read how ${name} was trained: ${messageOf(thrown)}`);
  }
}

/** Calls that were made and tokens that were sampled in an attempt, on average. */
function costsOf(
  rollouts: readonly Rollout[],
): Pick<EvaluatedModel, 'callsMean' | 'sampledTokensMean'> {
  const judged = rollouts.filter((one) => one.slice === undefined && isJudged(one));
  const meanOf = (count: (part: Part) => number): number | null =>
    judged.length === 0 ? null : mean(judged.map(({ parts }) => sum(parts.map(count))));
  return {
    callsMean: meanOf(({ calls }) => calls.length),
    sampledTokensMean: meanOf(sampledTokens),
  };
}
