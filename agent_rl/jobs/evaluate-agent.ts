import { AgentRlError } from '../core/errors.ts';
import { agentInCode, type AgentParts, placeOfTasks } from './code/agent-in-code.ts';
import { callInstead } from './code/call-instead.ts';
import { checkEvaluationOptions } from './code/check-options.ts';
import { checkpointGiven } from './code/checkpoint-given.ts';
import { type TaskRows, writeEvaluationTasks } from './code/task-folder.ts';
import { unlessBlocked } from './code/unless-blocked.ts';
import type { JobResult } from './job.ts';
import { jobs } from './jobs.ts';

/** Parts that are not given are as in the checkpoint's run; those that a program gave must be given again. */
export interface EvaluateAgentOptions<Row extends object = object> extends AgentParts<Row> {
  /** Attempted: rows, or the path of a file of rows; by default the held-out tasks of the run. */
  tasks?: TaskRows<Row> | string;
  /** The policy to use instead of the one at the top level, of a run with several. */
  policyName?: string;
  signal?: AbortSignal;
  /** Is given the table; it is not shown without it. */
  print?: (text: string) => void;
}

/**
 * Attempts tasks with a trained agent, as `agent-rl eval` does.
 *
 * @param checkpoint a run folder, a checkpoint or a model folder
 * @returns success rate, interval and means, as `agent-rl eval --json` prints them.
 * @throws AgentRlError for what the user can fix
 * @example
 * ```ts
 * const { successRate } = await evaluateAgent('runs/trainAgent-seed42', { tasks, tools: [add], reward });
 * ```
 */
export async function evaluateAgent<Row extends object = object>(
  checkpoint: string,
  options: EvaluateAgentOptions<Row> = {},
): Promise<JobResult> {
  checkEvaluationOptions(options);
  const { path, base } = checkpointGiven('evaluateAgent', checkpoint);
  if (base === undefined && options.tasks === undefined && options.dataset === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `evaluateAgent tasks: is missing. ${checkpoint} is a model, not a run, so it has no tasks of its own. Give tasks.`,
    );
  const { tasks, print = () => undefined } = options;
  const dir =
    tasks === undefined
      ? undefined
      : await writeEvaluationTasks(placeOfTasks(options).outputDir, tasks);
  const described = await agentInCode(options, { caller: 'evaluateAgent', base, dir });
  const instead = callInstead.evaluate(checkpoint);
  return unlessBlocked(options.signal, async (context) => {
    const { prepareRun } = await import('../compose/prepare-run.ts');
    const prepared = await prepareRun({ ...described, instead }, context.signal);
    const policy = options.policyName;
    return jobs.evaluate({ ...prepared, ...context, checkpoint: path, policy, print });
  });
}
