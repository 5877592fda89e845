import type { ResolvedRun } from '../../compose/resolve-run.ts';
import {
  atKTable,
  intervalNote,
  rateText,
  strategyText,
  worstCaseText,
} from '../../runs/evaluation-table.ts';
import { failedText } from '../../runs/failed-episodes.ts';
import { evaluationSummary } from '../../runs/summary.ts';
import type { Evaluation } from '../../trainer/evaluate.ts';
import type { JobContext, JobResult } from '../job.ts';
import { attemptTasks, type EvaluationOptions } from './attempt-tasks.ts';

/** Attempts the tasks of a split with a checkpoint, or with the config's model. */
export async function evaluate(options: EvaluationOptions): Promise<JobResult> {
  const { print, signal, checkpoint } = options;
  const { run, split, result } = await attemptTasks(options);
  const adapters = checkpoint === undefined ? run.config.model.adapters : [];
  showResult(result, { run, split, adapters, print, signal });
  return {
    model: run.model.folder,
    ...(adapters.length > 0 && { adapters }),
    split,
    strategy: run.config.eval.strategy,
    tasks: run.tasks.evaluation.length,
    interrupted: signal.aborted,
    ...evaluationSummary(result),
  };
}

interface Shown extends JobContext {
  run: ResolvedRun;
  split: string;
  adapters: readonly string[];
}

function showChosen({ chosen }: Evaluation, print: Shown['print']): void {
  if (chosen === undefined) return;
  print(`  ${strategyText(chosen)}: ${rateText(chosen)}`);
  for (const [name, rate] of Object.entries(chosen.groups))
    print(`  ${strategyText(chosen)}, ${name}: ${rateText(rate)}`);
  if (chosen.undecided > 0)
    print(
      `  ${chosen.undecided} tasks without ${chosen.strategy === 'majority' ? 'an answer' : 'a rating'}: the attempt with the highest log-probability was chosen`,
    );
}

function showResult(result: Evaluation, { run, split, adapters, print, signal }: Shown): void {
  const { samples, temperature } = run.attempts;
  print(
    `${[run.model.folder, ...adapters].join(' with ')} on ${split} (temperature ${temperature}, attempts per task: ${samples})`,
  );
  if (signal.aborted) print('  Interrupted: these results cover the attempts made so far.');
  print(`  total (without slices): ${rateText(result)}`);
  if (result.failed)
    print(
      `  range of the total (all failed attempts counted as wrong, to all counted as right): ${worstCaseText(result)}`,
    );
  for (const [name, rate] of Object.entries(result.groups)) print(`  ${name}: ${rateText(rate)}`);
  showChosen(result, print);
  print(`  ${intervalNote}`);
  for (const [name, mean] of Object.entries(result.environment)) {
    print(`  ${name}: ${mean.toFixed(3)} on average`);
  }
  for (const line of atKTable(result)) print(line);
  const attempts = result.rollouts;
  const failed = failedText(
    signal.aborted ? attempts.filter(({ outcome }) => outcome !== 'aborted') : attempts,
  );
  if (failed !== undefined) print(failed);
}
