import type { Agent } from '../../../compose/open-agent.ts';
import type { ResolvedRun } from '../../../compose/resolve-run.ts';
import { sum } from '../../../algorithms/statistics.ts';
import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { keyOutsideRuns } from '../../../core/rollout.ts';
import { unbiased } from '../../../core/services/generator.ts';
import { inTime } from '../../../core/stopping/abort.ts';
import { largest } from '../../../core/long-lists.ts';
import type { Task } from '../../../core/tasks/task.ts';
import { policyOf } from '../../../rollout/episode-parts.ts';

/** A task whose prompt leaves no room to answer. */
export interface LongPrompt {
  task: Task;
  tokens: number;
}

export interface PromptLengths {
  tasks: number;
  /** Tokens of the longest; 0 where none could be measured. */
  longest: number;
  meanTokens: number;
  /** Those that leave no room to answer, in the order of the tasks. */
  tooLong: readonly LongPrompt[];
  /** Why tasks were not measured, a sentence for each reason. */
  unmeasured: readonly string[];
}

/**
 * Starts the environment of every task once and encodes what it says first, so that a prompt that leaves no room to
 * answer is found before the run and not by an episode that fails in the middle of it.
 *
 * @throws AgentRlError `PLUGIN_LOAD_FAILED` of a plugin that can be made for no task
 */
export async function measurePrompts(
  agent: Pick<Agent, 'make'>,
  { config, tasks }: Pick<ResolvedRun, 'config' | 'tasks'>,
  signal: AbortSignal,
): Promise<PromptLengths> {
  const { maxEpisodeTokens: limit, deadlines } = config.rollout;
  const { environmentS: seconds } = deadlines;
  const late = new Error(`It took longer than ${seconds} s (rollout.deadlines.environmentS).`);
  const lengths = new Map<Task, number>();
  const problems = new Map<string, number>();
  const unmade: AgentRlError[] = [];
  const all = [...new Set([...tasks.train, ...tasks.selection, ...tasks.evaluation])];
  for (const [index, task] of all.entries()) {
    signal.throwIfAborted();
    try {
      const measured = await inTime((timed) => promptTokens(agent, task, timed), {
        seconds,
        signal,
        late,
      });
      if (measured !== undefined) lengths.set(task, measured);
    } catch (thrown) {
      signal.throwIfAborted();
      if (isUnmade(thrown)) unmade.push(thrown);
      const problem = messageOf(thrown);
      // One that hangs is most often one of many: the others are not waited for.
      const lost = thrown === late ? all.length - index : 1;
      problems.set(problem, (problems.get(problem) ?? 0) + lost);
      if (thrown === late) break;
    }
  }
  // Not one episode could be played: the plugin is at fault, and not a task.
  if (unmade.length > 0 && unmade.length === all.length) throw unmade[0]!;
  const measured = [...lengths.values()];
  return {
    tasks: lengths.size,
    longest: largest(measured, 0),
    meanTokens: sum(measured) / Math.max(1, measured.length),
    tooLong: [...lengths].flatMap(([task, tokens]) => (tokens < limit ? [] : [{ task, tokens }])),
    unmeasured: [...problems].map(
      ([problem, count]) =>
        `The prompts of ${count} of ${all.length} tasks could not be measured: ${problem}`,
    ),
  };
}

const isUnmade = (thrown: unknown): thrown is AgentRlError =>
  AgentRlError.is(thrown) && thrown.code === 'PLUGIN_LOAD_FAILED';

async function promptTokens(
  { make }: Pick<Agent, 'make'>,
  task: Task,
  signal: AbortSignal,
): Promise<number | undefined> {
  const parts = await make({
    task,
    key: keyOutsideRuns(),
    step: 0,
    seed: 0,
    sampling: unbiased,
  });
  try {
    const { toolRunner, world } = parts;
    // An agent or a server writes the prompt, when the episode runs.
    if (world.outside !== undefined || parts.elsewhere === true) return undefined;
    const { conversations } = await world.start(signal);
    // The messages before an agent's first turn are not known yet, and may be its only messages.
    const begun = Object.entries(conversations).filter(
      ([, messages]) => world.agents.length === 1 || messages.length > 0,
    );
    const lengths = begun.map(
      ([agent, messages]) => policyOf(parts, agent).begin(messages, toolRunner.specs).length,
    );
    await world.finish('aborted', signal, undefined, undefined);
    return largest(lengths, 0);
  } finally {
    await parts.close?.();
  }
}

/** For the log. */
export const promptsText = ({ tasks, longest, unmeasured }: PromptLengths): string =>
  tasks === 0 && unmeasured.length === 0
    ? 'Prompts: created at run time, so their lengths are unknown'
    : `Prompts: ${tasks} measured, the longest of ${longest} tokens`;
