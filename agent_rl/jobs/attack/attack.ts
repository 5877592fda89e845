import { openAgent } from '../../compose/open-agent.ts';
import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import { AgentRlError } from '../../core/errors.ts';
import { largest } from '../../core/long-lists.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { unbiased } from '../../core/services/generator.ts';
import { isSolved, keyOutsideRuns, type Rollout } from '../../core/rollout.ts';
import { runEpisode } from '../../rollout/run-episode.ts';
import type { EpisodeMaker } from '../../rollout/episode-parts.ts';
import { countText } from '../../telemetry/index.ts';
import { failureText } from '../../trainer/collect/failure-guard.ts';
import { chooseTasks } from '../../trainer/evaluate.ts';
import type { CheckResult, JobOptions } from '../job.ts';
import { Attacker } from './attacker.ts';
import { attackTable, findingText } from './attack-text.ts';
import { type Attack, attacks } from './attacks.ts';
import { type Attempt, type AttackReport, reportOf, rewardIn } from './attack-report.ts';
import { honestPlays, type Play, playsOf } from './plays.ts';
import type { Task } from '../../core/tasks/task.ts';

export interface AttackOptions extends JobOptions {
  /** Tasks to attack, chosen by the seed; 8 by default. */
  tasks?: number;
  /** Split of the tasks; `dataset.trainSplit` by default. */
  split?: string;
}

const defaultTasks = 8;

/**
 * Plays cheating policies against the environment, tools and rewards of a run, as the trainer would reward them, and
 * compares what they earn on each task with what an honest failure earns: the best of answers that admit not to know, at
 * once or after a call.
 *
 * @returns `ok: false` when a cheat earns more, loses less, counts as a success, or leaves its group without a reward
 * @throws AgentRlError for what the user can fix; `ROLLOUTS_FAILED` when no honest episode has a reward to compare with
 */
export async function attack(options: AttackOptions): Promise<CheckResult> {
  const { print, signal } = options;
  const split = options.split ?? options.loaded.config.dataset.trainSplit;
  const run = await resolveRun(options, {
    ...options,
    trains: false,
    tasks: { evaluation: split },
  });
  requireOneAgent(run);
  const tasks = chooseTasks(
    run.tasks.evaluation,
    options.tasks ?? defaultTasks,
    run.config.run.seed,
  );
  const agent = await openAgent(run, {
    workers: 1,
    trains: false,
    signal,
    policy: new Attacker([]),
  });
  try {
    const stage = new Stage(run, agent.make, signal);
    const honest = await stage.honestRewards(tasks, agent.toolSpecs);
    const reports: AttackReport[] = [];
    for (const one of attacks) {
      const attempts = await stage.attempts(one, { tasks, tools: agent.toolSpecs });
      if (signal.aborted) break;
      reports.push(reportOf(one, attempts, honest));
    }
    throwIfFailed(signal);
    const found = reports.filter(({ findings }) => findings.length > 0);
    print(attackTable(reports, { tasks: tasks.length, honest: [...honest.values()] }));
    for (const { name, findings } of found)
      for (const finding of findings.slice(0, shownFindings)) print(findingText(name, finding));
    if (signal.aborted) print('Interrupted: attacks that are not listed were not run.');
    else if (found.length === 0) print('No attack earns more than an honest failure.');
    return { ok: found.length === 0 && !signal.aborted, tasks: tasks.length, attacks: reports };
  } finally {
    await agent.close();
  }
}

function requireOneAgent({ chosen }: Pick<ResolvedRun, 'chosen'>): void {
  const several = chosen.environments.find(({ agents }) => agents.length > 1);
  if (several === undefined) return;
  const names = several.agents.map(({ name }) => name).join(', ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `agent-rl plugins attack plays one policy against an environment, but ${several.name} has several agents (${names}). Test cheats yourself, with turns for each agent, as describeMultiAgentEnvironmentContract does.`,
  );
}

const shownFindings = 3;

type Tools = Parameters<typeof playsOf>[2];

/** Where plays are made. */
class Stage {
  constructor(
    private readonly run: ResolvedRun,
    private readonly make: EpisodeMaker,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * What the best honest failure earns on each task, by its id.
   *
   * @throws AgentRlError `ROLLOUTS_FAILED` when it has a reward on none: nothing could be compared, and nothing found
   */
  async honestRewards(tasks: readonly Task[], tools: Tools): Promise<Map<string, number>> {
    const rewards = new Map<string, number>();
    const failed: Rollout[] = [];
    for (const task of tasks) {
      const earned: number[] = [];
      for (const play of honestPlays(tools)) {
        const rollout = await this.#play(task, play);
        const reward = rewardIn(rollout, this.run.config.rollout);
        if (reward === undefined) failed.push(rollout);
        else earned.push(reward);
      }
      if (earned.length > 0) rewards.set(task.taskId, largest(earned, -Infinity));
    }
    const [first] = failed;
    if (rewards.size > 0 || first === undefined || this.signal.aborted) return rewards;
    throw new AgentRlError(
      'ROLLOUTS_FAILED',
      `None of ${countText(failed.length, 'honest episode')} has a reward, so there is nothing to compare attacks with. The first (task ${first.taskId}) ended as ${failureText(first)}`,
    );
  }

  async attempts(
    one: Attack,
    { tasks, tools }: { tasks: readonly Task[]; tools: Tools },
  ): Promise<Attempt[]> {
    const attempts: Attempt[] = [];
    for (const task of tasks) {
      for (const play of playsOf(one, task, tools)) {
        if (this.signal.aborted) return attempts;
        const rollout = await this.#play(task, play);
        const { taskId, outcome, problem } = rollout;
        const reward = rewardIn(rollout, this.run.config.rollout);
        const { place, text } = play;
        const success = isSolved(rollout);
        attempts.push({ taskId, place, text, outcome, success, reward, problem });
      }
    }
    return attempts;
  }

  #play(task: Task, { turns }: Play): Promise<Rollout> {
    const { seed } = this.run.config.run;
    const make: EpisodeMaker = async (request) => ({
      ...(await this.make(request)),
      policy: new Attacker(turns),
    });
    const request = { task, key: keyOutsideRuns(), step: 0, seed, sampling: unbiased };
    return runEpisode(make, request, this.signal);
  }
}
