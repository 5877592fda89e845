import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { messageOf } from '../../core/errors.ts';
import { beforeAfterTable } from '../../runs/evaluation-table.ts';
import type { OpenRun } from '../../runs/open-run.ts';
import { recordedRun } from '../../runs/query/recorded-run.ts';
import { runChecks } from '../../runs/signs/run-checks.ts';
import { runEvidence } from '../../runs/signs/run-evidence.ts';
import { type RunVerdict, runVerdict } from '../../runs/signs/run-verdict.ts';
import { type SummaryFacts, summaryOf } from '../../runs/summary.ts';
import { type Log, visibleControls } from '../../telemetry/index.ts';
import type { TrainingResult } from '../../trainer/trainer-contracts.ts';
import { promptOf } from '../explain/prompt-of.ts';
import type { JobResult } from '../job.ts';
import { howToContinue, tooShortToLearn } from './how-to-continue.ts';

interface Ended {
  result: TrainingResult;
  facts: Pick<SummaryFacts, 'usage' | 'tools' | 'rewards' | 'sandboxLevel' | 'leftOut'>;
}

/** The summary of a run of reinforcement learning that has ended, and what the user is shown. */
export async function concluded(run: ResolvedRun, record: OpenRun, { result, facts }: Ended) {
  const { config, parameters, warnings } = run;
  const { saved, machines, log } = record;
  const { path } = record.folder;
  const ended = summaryOf(result, {
    seed: config.run.seed,
    weightsSha256: saved.weightsSha256,
    policies: saved.policies,
    checkpoint: saved.path,
    ...parameters,
    prices: config.run.prices,
    machines,
    warnings,
    ...facts,
  });
  // Reading what a long run recorded takes a while: its result is there though the process ends meanwhile.
  record.writeSummary(ended);
  const verdict = result.interrupted ? undefined : await verdictOf(path, ended, log);
  const short = tooShortToLearn(run);
  return {
    summary: {
      ...ended,
      verdict: verdict ?? null,
      ok: verdict?.is === 'worse' ? false : undefined,
    },
    shown: [
      (result.before ?? result.after) && beforeAfterTable(result),
      short,
      `Outputs: ${path}\nCheckpoint: ${saved.path}`,
      howToContinue(run, path, result),
      verdict && short === undefined ? verdictText(verdict, path) : undefined,
    ],
  };
}

/** Whether the run got better, by what it recorded; a warning where that cannot be read. */
async function verdictOf(
  path: string,
  summary: JobResult,
  log: Log,
): Promise<RunVerdict | undefined> {
  try {
    const recorded = { ...recordedRun(path), summary };
    const evidence = await runEvidence(recorded, promptOf(recorded.config));
    return runVerdict(evidence, runChecks(evidence));
  } catch (problem) {
    log.warn(`The run's records could not be checked: ${messageOf(problem)}`);
    return undefined;
  }
}

const verdictText = ({ is, says }: RunVerdict, path: string): string =>
  visibleControls(
    is === 'better' || is === 'control' ? says : `${says}\nMore: agent-rl runs explain ${path}`,
  );
