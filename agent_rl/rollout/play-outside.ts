import { AsyncLocalStorage } from 'node:async_hooks';

import { messageOf, runEndingError } from '../core/errors.ts';
import { AgentFailure } from '../core/failure.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { append } from '../core/long-lists.ts';
import type { EpisodeEnd } from '../core/plugins/environment.ts';
import { redactor } from '../telemetry/redact.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { EpisodeParts, EpisodeRequest, OutsideRecord } from './episode-parts.ts';

interface Outside {
  request: EpisodeRequest;
  log: EpisodeLog;
  /** Runs the agent under its deadline. */
  timed: (work: (signal: AbortSignal) => Promise<unknown>) => Promise<unknown>;
  signal: AbortSignal;
}

/** Lets an external agent play an episode. @throws AgentFailure for a system failure */
export async function playOutside(
  { world: { outside: agent }, gateway }: EpisodeParts,
  { request, log, timed, signal }: Outside,
): Promise<EpisodeEnd> {
  if (agent === undefined || gateway === undefined)
    throw new Error('An episode of an external agent needs both the agent and a gateway.');
  const { task, seed, key } = request;
  const door = gateway.enter(request, log, signal);
  const { fetch, baseURL, apiKey } = door;
  const random = new KeyedRng(seed, 'agent', task.taskId, key.sample);
  const running = timed((within) => {
    door.waitIn(AsyncLocalStorage.snapshot());
    return agent.run({ task, signal: within, random, fetch, baseURL, apiKey });
  });
  const ended = await running.then(
    (answer) => ({ answer }),
    (thrown: unknown) => ({ answer: undefined, thrown }),
  );
  const record = await door.end(ended.answer);
  keep(record, log);
  signal.throwIfAborted();
  if (record.failure !== undefined) throw record.failure;
  if (!('thrown' in ended)) {
    log.returned = ended.answer;
    return record.cut ? 'token-limit' : 'done';
  }
  const { thrown } = ended;
  if (runEndingError(thrown) !== undefined) throw thrown;
  // An error after a limit of the run refused a request is not its failure.
  if (record.refused !== undefined) return record.refused;
  const { name = 'Error' } = thrown as Partial<Error>;
  const problem = `${name === 'Error' ? '' : `${name}: `}${messageOf(thrown)}`;
  if (!agent.isModelError(thrown))
    throw new AgentFailure(`The agent failed: ${problem}`, { cause: thrown });
  log.thrown = redactor()(problem);
  return 'agent-error';
}

function keep({ messages, turns, ...record }: OutsideRecord, log: EpisodeLog): void {
  append(log.messages, messages);
  append(log.turns, turns);
  for (const { calls, message } of turns) {
    append(log.calls, calls);
    log.malformedCalls += message.malformedCalls?.length ?? 0;
  }
  const { sequences, undelivered, requests } = record;
  Object.assign(log, { sequences, undelivered, requests });
}
