import { mean, sum } from '../../algorithms/statistics.ts';
import { openAgent } from '../../compose/open-agent.ts';
import { resolveRun } from '../../compose/resolve-run.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Verdict } from '../../core/plugins/environment.ts';
import { keyText, type Part, type Rollout } from '../../core/rollout.ts';
import { keepLedger, usedTokens } from '../../rollout/tokens/ledger.ts';
import { Unreadable } from '../../runs/episodes/read-lines.ts';
import { readRollouts, type RecordedRollout } from '../../runs/journal/read-journal.ts';
import { runFolderAt } from '../../runs/run-folder.ts';
import { countText, shortNumber } from '../../telemetry/figures.ts';
import { tableText } from '../../telemetry/terminal/table.ts';
import { buildData } from '../../trainer/build-data.ts';
import { collectGroups, withAdvantages } from '../../trainer/collect/collect-groups.ts';
import { rolloutMetrics } from '../../trainer/collect/rollout-metrics.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { silentPolicy } from '../silent-policy.ts';
import { tasksToDraw } from '../train/ready/ready-agent.ts';
import { trainerOptions } from '../train/trainer-options.ts';
import { rescored } from './rescored-part.ts';

export interface RescoreOptions extends JobOptions {
  /** Folder of the run; the config is that of the run with other rewards. */
  run: string;
}

/** An iteration with other rewards. */
interface Rescored {
  iteration: number;
  rewardMean: { recorded: number | null; now: number | null };
  trainedTokens: { recorded: number; now: number };
}

/**
 * Gives the recorded rollouts of a run other rewards, and says what each update would have trained. Verdicts are as recorded;
 * nothing is sampled and no tool is called.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` for a folder without a journal, `CONFIG_INVALID` for rewards with which other
 * groups would have been played
 */
export async function rescoreRun({ run, print, ...options }: RescoreOptions): Promise<JobResult> {
  const { trainSplit, evalSplit } = options.loaded.config.dataset;
  const tasks = { train: trainSplit, evaluation: evalSplit };
  const resolved = await resolveRun({ ...options }, { ...options, print, trains: true, tasks });
  const { signal } = options;
  const policy = silentPolicy('A run that is rescored');
  const agent = await openAgent(resolved, { workers: 1, trains: true, policy, signal });
  const unreadable = new Unreadable();
  const folder = runFolderAt(run);
  const settings = trainerOptions(resolved.config, resolved.chosen, folder.name);
  const all: Rescored[] = [];
  try {
    const damaged = (problem: string) => unreadable.add(problem);
    for await (const rollouts of readRollouts(folder.journal, { file: 'train', damaged })) {
      const { iteration } = rollouts[0]!.rollout.key;
      const byKey = new Map(rollouts.map((one) => [keyText(one.rollout.key), one]));
      const played = await collectGroups({
        ...settings,
        rollouts: {
          collect: (requests) =>
            Promise.all(
              requests.map(async (request) => {
                const recorded = byKey.get(keyText(request.key));
                if (recorded?.rollout.taskId !== request.task.taskId)
                  throw new AgentRlError(
                    'CONFIG_INVALID',
                    `Rollout ${keyText(request.key)} of task ${request.task.taskId} is not recorded: with these rewards other groups are played. Set algorithm.selection to all.`,
                  );
                const parts = await agent.make(request);
                try {
                  return await withRewards(recorded, (part, verdict) =>
                    rescored(part, { verdict, task: request.task, parts }),
                  );
                } finally {
                  await parts.close?.();
                }
              }),
            ),
        },
        rewarding: agent.rewarding,
        tasks: tasksToDraw(resolved),
        drawn: (iteration - 1) * settings.rollout.tasksPerStep,
        iteration: iteration - 1,
        step: rollouts[0]?.rollout.step ?? 0,
        signal,
      });
      const { groups, discarded } = played;
      const compared = { groups: withAdvantages(groups, settings.algorithm.advantage), discarded };
      const batch = buildData(compared, settings.algorithm, settings.rollout);
      keepLedger(batch.uses, batch.trainedTokens);
      const rewards = rollouts.flatMap(({ rollout }) => rollout.parts).map(({ reward }) => reward);
      all.push({
        iteration,
        rewardMean: {
          recorded: meanOf(rewards),
          now: rolloutMetrics(compared)['rollout/rewardMean'] ?? null,
        },
        trainedTokens: { recorded: trainedIn(rollouts), now: batch.trainedTokens },
      });
    }
  } finally {
    await agent.close();
  }
  print(rescoredText(all));
  return { iterations: all, unreadable: unreadable.count };
}

async function withRewards(
  { rollout, verdicts }: RecordedRollout,
  rescore: (part: Part, verdict: Verdict) => Promise<Part>,
): Promise<Rollout> {
  const parts: Part[] = [];
  for (const part of rollout.parts) {
    const verdict = verdicts[part.agent];
    parts.push(verdict === undefined ? part : await rescore(part, verdict));
  }
  return { ...rollout, parts };
}

/** Sampled tokens that the update trained. */
function trainedIn(rollouts: readonly RecordedRollout[]): number {
  const used = rollouts.flatMap(({ rollout, learned }) =>
    rollout.parts.flatMap((part) => {
      const { use, turnAdvantages } = learned.get(part.agent) ?? {};
      return use === undefined ? [] : usedTokens({ part, use, advantage: turnAdvantages });
    }),
  );
  return sum(used.map(([use, tokens]) => (use === 'trained' ? tokens : 0)));
}

function meanOf(rewards: readonly (number | undefined)[]): number | null {
  const given = rewards.filter((reward) => reward !== undefined);
  return given.length === 0 ? null : mean(given);
}

const shown = (value: number | null): string => (value === null ? '-' : shortNumber(value));

const rescoredText = (all: readonly Rescored[]): string =>
  [
    tableText([
      ['iteration', 'mean reward', 'rescored', 'trained tokens', 'rescored'],
      ...all.map(({ iteration, rewardMean, trainedTokens }) => [
        String(iteration),
        shown(rewardMean.recorded),
        shown(rewardMean.now),
        String(trainedTokens.recorded),
        String(trainedTokens.now),
      ]),
    ]),
    `${countText(all.length, 'iteration')} with the recorded verdicts. Weights that these rewards would have given would have sampled other tokens from the second iteration on.`,
  ].join('\n');
