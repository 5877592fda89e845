import { batchSchema } from '../../core/services/batch.ts';
import type { Failure } from '../../core/failure.ts';
import type { Message } from '../../core/message.ts';
import type { EpisodeLine } from '../view/episode-api.ts';
import type {
  FailedAttempt,
  GroupReward,
  JudgedBy,
  Member,
  Part,
  Rollout,
  RolloutKey,
} from '../../core/rollout.ts';

/** One agent's part in a rollout, in the form in which runs are shown and exported. */
export interface EpisodeRecord
  extends
    RolloutKey,
    Pick<Rollout, 'taskId' | 'step' | 'seed'>,
    Pick<
      Part,
      | 'agent'
      | 'policy'
      | 'learns'
      | 'sequences'
      | 'outcome'
      | 'success'
      | 'turns'
      | 'components'
      | 'scores'
      | 'turnRewards'
      | 'turnStates'
      | 'metrics'
      | 'malformedCalls'
      | 'retries'
      | 'cutTokens'
      | 'seconds'
      | 'undelivered'
      | 'requests'
    > {
  schema: number;
  slice: string | null;
  reward: number | null;
  answer: string | null;
  unpaid: Readonly<Record<string, number>> | null;
  sandboxLevel: string | null;
  failure: Failure | null;
  messages: readonly Message[];
  judgedBy: JudgedBy | null;
  groupReward: GroupReward | null;
  toolCalls: EpisodeLine['toolCalls'];
  problem: string | null;
  failedAttempts: readonly FailedAttempt[];
  hidden: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * One agent's part in a rollout as one record: what was said and its tokens, what judged it and how,
 * and all that is needed to draw it again. What the policy could not see is under `hidden` and nowhere else.
 */
export const episodeRecord = ({ rollout, part }: Member): EpisodeRecord => ({
  ...part.record,
  schema: batchSchema,
  ...rollout.key,
  agent: part.agent,
  policy: part.policy,
  learns: part.learns,
  taskId: rollout.taskId,
  slice: rollout.slice ?? null,
  step: rollout.step,
  seed: rollout.seed,
  messages: part.messages,
  sequences: part.sequences,
  toolCalls: part.calls.map(({ call, status, result, wallMs, problem }) => ({
    id: call.id,
    name: call.name,
    arguments: call.arguments,
    status,
    content: result.content,
    wallMs,
    problem,
  })),
  turns: part.turns,
  malformedCalls: part.malformedCalls,
  outcome: part.outcome,
  success: part.success,
  reward: part.reward ?? null,
  components: part.components,
  scores: part.scores,
  turnRewards: part.turnRewards,
  turnStates: part.turnStates,
  unpaid: part.unpaid ?? null,
  answer: part.answer ?? null,
  judgedBy: rollout.judgedBy ?? null,
  groupReward: part.groupReward ?? null,
  metrics: part.metrics,
  seconds: part.seconds,
  sandboxLevel: rollout.sandboxLevel ?? null,
  problem: rollout.problem ?? part.unjudged?.problem ?? null,
  failure: rollout.failure ?? part.unjudged?.failure ?? null,
  failedAttempts: rollout.failedAttempts,
  retries: part.retries,
  cutTokens: part.cutTokens,
  undelivered: part.undelivered,
  requests: part.requests,
  hidden: hiddenOf(part),
});

/** Inputs of tools, and what tools gave the environment besides their text. */
const hiddenOf = ({ hiddenInputs, calls }: Part) => ({
  toolInputs: hiddenInputs,
  toolData: Object.fromEntries(
    calls.flatMap(({ call, result }) =>
      result.data === undefined ? [] : [[call.id, result.data]],
    ),
  ),
});
