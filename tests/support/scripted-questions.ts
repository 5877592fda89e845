import { episodeMaker } from '#agent_rl/compose/episode-maker.ts';
import { runContainer } from '#agent_rl/compose/plugins/container.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveTasks } from '#agent_rl/compose/resolve-tasks.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { QuestionTask } from '#agent_rl/core/tasks/question-task.ts';
import { isSolved, keyOutsideRuns, type Rollout } from '#agent_rl/core/rollout.ts';
import { AsyncRolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { says, ScriptedPolicy } from './scripted-policy.ts';

/** What a policy answers to a task. */
export type Answer = (task: QuestionTask) => string;

/** Asks a policy without a model every question of a split once, through everything a run file says. */
export async function ask(
  settings: object,
  { split, answer }: { split: string; answer: Answer },
): Promise<readonly Rollout[]> {
  const { loaded, chosen } = await prepareRun({ file: 'questions.yaml', settings });
  const { config } = loaded;
  const { evaluation } = await resolveTasks(config, chosen, {
    evaluation: split,
    print: () => undefined,
  });
  const tasks = new Map(evaluation.map((task) => [task.taskId, task as QuestionTask]));
  const policy = new ScriptedPolicy(({ key }) => ({
    message: says(answer(tasks.get(key.taskId)!)),
  }));
  const toolRunner = new ToolRunner([]);
  const none = { toolsShared: new Map(), rewardsShared: new Map(), sandbox: undefined };
  const run = { config, chosen, container: runContainer() };
  const make = episodeMaker({ ...run, policy, toolRunner, ...none });
  const asked = { key: keyOutsideRuns(), step: 0, seed: 42, sampling: unbiased };
  const requests = evaluation.map((task) => Object.assign({ task }, asked));
  const { signal } = new AbortController();
  return new AsyncRolloutWorker(make, 16).collect(requests, { signal });
}

/** The share of solved questions, once nothing failed. */
export function successRate(rollouts: readonly Rollout[]): number {
  const failed = rollouts.find(({ failure }) => failure !== undefined);
  if (failed !== undefined) throw new Error(`${failed.taskId}: ${failed.problem}`);
  return rollouts.filter(isSolved).length / rollouts.length;
}

const numberOf = ({ answer = '' }: QuestionTask): string =>
  (answer.split('####').at(-1) ?? '').trim().replaceAll(',', '');

/** Three policies for questions whose answer is a number. */
export const policies: Readonly<Record<'right' | 'wrong' | 'unparsable', Answer>> = {
  right: (task) => `Adding it all up gives the number.\nThe answer is ${numberOf(task)}.`,
  wrong: (task) =>
    `Adding it all up gives the number.\nThe answer is ${Number(numberOf(task)) + 1}.`,
  unparsable: () => 'I would rather not say.',
};
