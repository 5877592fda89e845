import { AsyncLocalStorage } from 'node:async_hooks';

import { messageOf, runEndingError } from '../core/errors.ts';
import { AgentFailure } from '../core/failure.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { append } from '../core/long-lists.ts';
import type { EpisodeEnd, ExternalEnvironment } from '../core/plugins/environment.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { EpisodeRequest, Gateway } from './episode-parts.ts';
import type { OutsideRecord } from './rollout-door.ts';

interface Outside {
  agent: Pick<ExternalEnvironment, 'run' | 'isModelError'>;
  gateway: Gateway;
  request: EpisodeRequest;
  log: EpisodeLog;
  /** Runs the agent under its deadline. */
  timed: (work: (signal: AbortSignal) => Promise<unknown>) => Promise<unknown>;
  signal: AbortSignal;
}

/**
 * Has an agent with a loop of its own play an episode.
 *
 * @returns why it ended: what the agent throws after a limit of the run refused it is not its failure
 * @throws AgentFailure for what the agent throws besides; what the system failed with
 */
export async function playOutside(outside: Outside): Promise<EpisodeEnd> {
  const { agent, gateway, request, log, timed, signal } = outside;
  const { task, seed, key } = request;
  const door = gateway.enter(request, log, signal);
  let ended: { answer: unknown } | { thrown: unknown };
  try {
    const answer = await timed((within) => {
      door.waitIn(AsyncLocalStorage.snapshot());
      const random = new KeyedRng(seed, 'agent', task.taskId, key.sample);
      const { fetch, baseURL, apiKey } = door;
      return agent.run({ task, signal: within, random, fetch, baseURL, apiKey });
    });
    ended = { answer };
  } catch (thrown) {
    ended = { thrown };
  }
  const answer = 'answer' in ended ? ended.answer : undefined;
  const record = await door.end(answer);
  keep(record, log);
  signal.throwIfAborted();
  if (record.failure !== undefined) throw record.failure;
  if ('answer' in ended) {
    log.returned = answer;
    return record.cut ? 'token-limit' : 'done';
  }
  const { thrown } = ended;
  if (runEndingError(thrown) !== undefined) throw thrown;
  if (record.refused !== undefined) return record.refused;
  if (agent.isModelError(thrown)) return 'agent-error';
  throw new AgentFailure(`The agent failed: ${messageOf(thrown)}`, { cause: thrown });
}

function keep(record: OutsideRecord, log: EpisodeLog): void {
  append(log.messages, record.messages);
  append(log.turns, record.turns);
  append(
    log.calls,
    record.turns.flatMap(({ calls }) => calls),
  );
  log.malformedCalls += record.malformedCalls;
  log.sequences = record.sequences;
  log.undelivered = record.undelivered;
  log.requests = record.requests;
}
