import { openTrainableAgent, type TrainableAgent } from '../../../compose/open-agent.ts';
import type { ResolvedRun } from '../../../compose/resolve-run.ts';
import type { Cleanup } from '../../../core/stopping/cleanup.ts';
import { drawsOf } from '../../../../dataset/tasks/plan/task-plan.ts';
import { withoutTasks } from '../../../../dataset/tasks/selection-tasks.ts';
import { planOf } from '../../../../dataset/tasks/task-sets.ts';
import { AgentRlError } from '../../../core/errors.ts';
import { policiesIn, readTrainerState } from '../../../runs/checkpoints.ts';
import { requireSameSelection } from '../../../trainer/standing.ts';
import type { TrainerState } from '../../../trainer/trainer-contracts.ts';
import type { JobContext } from '../../job.ts';
import { measurePrompts, type PromptLengths } from './measure-prompts.ts';
import { requireWithin } from '../restore-run.ts';
import {
  type LeftOut,
  leftOutText,
  requireSameLeftOut,
  type SavedLeftOut,
  withoutTooLong,
} from './too-long.ts';

/** What a run begins with. */
export interface ReadyAgent {
  /** With the tasks that are trained on, evaluated on and chosen by. */
  run: ResolvedRun;
  agent: TrainableAgent;
  prompts: PromptLengths;
  leftOut: readonly LeftOut[];
}

/**
 * Opens everything that a run needs and that writes nothing, for the run and for a dry run: what one refuses, the other
 * does.
 *
 * @throws AgentRlError of whatever is missing, and of tasks or a checkpoint that do not fit
 */
export async function openReady(
  resolved: ResolvedRun,
  { signal, print }: JobContext,
  opened: Cleanup,
  checkpoint: string | undefined,
): Promise<ReadyAgent> {
  const { workers } = resolved.config.rollout;
  const agent = opened.add(await openTrainableAgent(resolved, { workers, signal }));
  const prompts = await measurePrompts(agent, resolved, signal);
  const { run, leftOut } = withoutTooLong(resolved, prompts);
  if (checkpoint !== undefined) requireSame(checkpoint, run, leftOut);
  if (leftOut.length > 0) print(`Note: ${leftOutText(run.config, leftOut, 'first')}`);
  for (const note of agent.notes) print(`Note: ${note}`);
  return { run, agent, prompts, leftOut };
}

/** The tasks that a run draws. */
export function tasksToDraw({ config, tasks }: ResolvedRun) {
  const { maxSamples, shuffle } = config.dataset;
  return planOf(withoutTasks(tasks.sets, new Set(tasks.selection)), {
    seed: config.run.seed,
    shuffle,
    maxSamples,
  });
}

/** @throws AgentRlError where a checkpoint does not go on with this run */
function requireSame(checkpoint: string, run: ResolvedRun, leftOut: readonly LeftOut[]): void {
  const state = readTrainerState(checkpoint) as TrainerState & SavedLeftOut;
  requireWithin(state.iteration, run);
  requireSamePolicies(checkpoint, run);
  requireSameLeftOut(state, leftOut);
  requireSameSelection(state, run.tasks.selection);
  drawsOf(state.tasks, tasksToDraw(run));
}

/** @throws AgentRlError `CHECKPOINT_INVALID` where other policies have a learner than in the checkpoint */
function requireSamePolicies(checkpoint: string, { policies }: ResolvedRun): void {
  const [before, now] = [
    policiesIn(checkpoint),
    [...policies].flatMap(([name, { learns }]) => (learns ? name : [])),
  ].map((names) => names.toSorted().join(', '));
  if (before === now) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run trains the named policies [${before}], but the config now gives a learner to [${now}]. Do not change policies.NAME.learner when resuming.`,
  );
}
