import type { ExecutedCall, Turn, Verdict } from '../../core/plugins/environment.ts';
import { type Part, sampledTurns } from '../../core/rollout.ts';
import { isSystemFailure } from '../../core/outcome.ts';
import type { Task } from '../../core/tasks/task.ts';
import { combineRewards, solvedBy } from '../../rollout/combine-rewards.ts';
import type { EpisodeParts } from '../../rollout/episode-parts.ts';

/** A recorded part with the rewards of other settings. */
export async function rescored(
  part: Part,
  { verdict, task, parts }: { verdict: Verdict; task: Task; parts: EpisodeParts },
): Promise<Part> {
  if (isSystemFailure(part.outcome)) return part;
  const { agent, messages, calls, malformedCalls } = part;
  const turns = turnsOf(part);
  const answer = messages.findLast(({ role }) => role === 'assistant')?.content;
  const rejected = calls.filter(({ status }) => status === 'rejected').length;
  const combined = await combineRewards(
    { task, agent, messages, turns, answer, verdict },
    {
      rewards: parts.rewards,
      environmentWeight: parts.environmentWeight ?? 1,
      invalidCallPenalty: parts.invalidCallPenalty,
      invalidCalls: malformedCalls + rejected,
      turns: {
        stepped: turns.length,
        sampled: part.requests === undefined ? sampledTurns(part).length : undefined,
      },
    },
  );
  const { outcome, success } = verdict;
  return { ...part, outcome, success, ...solvedBy(verdict, combined), ...combined };
}

/** The turns that the messages and calls of a part are of; a turn that was cut off has none. */
function turnsOf({ messages, calls, turns }: Part): Turn[] {
  const said = messages.filter((message) => message.role === 'assistant');
  const left: ExecutedCall[] = [...calls];
  return said.slice(0, turns).map((message, index) => ({
    index,
    message,
    calls: left.splice(0, message.toolCalls?.length ?? 0),
  }));
}
