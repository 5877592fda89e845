import { AgentRlError } from '../../core/errors.ts';
import type { AskedMessage } from './asked.ts';

/** Turns that are remembered: enough for some hundred rollouts, since a request that went astray is soon followed by another. */
const mostTurns = 65_536;

/** Which rollout each turn of a run was sampled for: it notices requests that reach another rollout than their own. */
export class TurnOwners {
  readonly #owners = new Map<string, string>();

  add(turn: string, rollout: string): void {
    this.#owners.set(turn, rollout);
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > mostTurns && oldest !== undefined) this.#owners.delete(oldest);
  }

  /** What ends the run where messages hold a turn of another rollout: what either learned would be wrong. */
  mixed(messages: readonly AskedMessage[], rollout: string): AgentRlError | undefined {
    const names = messages.flatMap(({ turn, ids = [] }) => [turn, ...ids.map(turnOfCall)]);
    const owners = names.map((name) => (name === undefined ? rollout : this.#owners.get(name)));
    if (owners.every((owner) => owner === undefined || owner === rollout)) return undefined;
    return new AgentRlError(
      'ROLLOUTS_MIXED',
      'A request of one rollout contains a turn of another rollout. Either rollouts share a queue, a pool or an event emitter, which sent the request in the wrong context, or they share a client, which always sends the same key. Use context.fetch, which the agent receives, or create a client for each rollout.',
    );
  }
}

const turnOfCall = (id: unknown): string | undefined =>
  typeof id === 'string' ? /^call_(?<turn>.+)_\d+$/.exec(id)?.groups?.['turn'] : undefined;
