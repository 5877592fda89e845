import { AgentRlError } from '../../core/errors.ts';
import { recordedRun } from '../../runs/recorded-run.ts';
import type { JobResult } from '../job.ts';
import { runChecks } from './checks/run-checks.ts';
import { runEvidence } from './evidence/run-evidence.ts';
import { RunSettings } from './evidence/run-settings.ts';
import { findingsText, headText } from './findings-text.ts';
import { explainStep } from './step/explain-step.ts';

export interface ExplainOptions {
  /** Folder of a run. */
  run: string;
  /** One iteration, instead of the whole run. */
  step?: number;
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
  if (new RunSettings(recorded.config).at('train.mode') === 'sft')
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${recorded.folder.path} is a run of supervised training (train.mode sft), without episodes and rewards: there is nothing to explain. Its losses are in ${recorded.folder.metrics}.`,
    );
  if (step !== undefined) return explainStep(recorded, step, print);
  const evidence = await runEvidence(recorded);
  if (evidence.series.iterations.length === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${recorded.folder.path} has no iteration of reinforcement learning yet, so there is nothing to explain. Its log is ${recorded.folder.log}.`,
    );
  const findings = runChecks(evidence);
  print(headText(evidence, recorded.folder.name));
  print(findingsText(findings, run, evidence.series.iterations.length));
  print(`One iteration in detail: agent-rl explain ${run} --step N`);
  return {
    iterations: evidence.series.iterations.length,
    findings,
    unreadable: evidence.unreadable.facts(),
  };
}
