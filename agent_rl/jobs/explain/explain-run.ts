import { AgentRlError } from '../../core/errors.ts';
import { recordedRun } from '../../runs/query/recorded-run.ts';
import type { JobResult } from '../job.ts';
import { runChecks } from '../../runs/signs/run-checks.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { runVerdict } from '../../runs/signs/run-verdict.ts';
import { runEvidence } from '../../runs/signs/run-evidence.ts';
import { findingsText, headText } from './findings-text.ts';
import { promptOf } from './prompt-of.ts';
import { explainStep } from './step/explain-step.ts';

export interface ExplainOptions {
  /** Folder of a run. */
  run: string;
  /** One iteration, instead of the whole run. */
  step?: number | undefined;
  print: (text: string) => void;
}

/**
 * Says why a run does not learn, as a list of checks, or why the gradient of one iteration is what it is.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's, `CONFIG_INVALID` when there is nothing to
 * explain
 */
export async function explain({ run, step, print }: ExplainOptions): Promise<JobResult> {
  const recorded = recordedRun(run);
  if (recorded.isSupervised)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${recorded.folder.path} is a supervised run (train.mode sft) without episodes and rewards, so there is nothing to explain. Its losses are in ${recorded.folder.metrics}.`,
    );
  if (step !== undefined) return explainStep(recorded, step, print);
  const evidence = await runEvidence(recorded, promptOf(recorded.config));
  if (evidence.series.iterations.length === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${recorded.folder.path} has no iteration of reinforcement learning yet, so there is nothing to explain. Its log is ${recorded.folder.log}.`,
    );
  const findings = runChecks(evidence);
  const verdict = runVerdict(evidence, findings);
  print(headText(evidence, recorded.folder.name));
  print(visibleControls(verdict.says));
  print(findingsText(findings, run, evidence.series.iterations.length));
  print(`To see one iteration in detail: agent-rl runs explain ${run} --step N`);
  return {
    iterations: evidence.series.iterations.length,
    verdict,
    findings,
    unreadable: evidence.unreadable,
  };
}
