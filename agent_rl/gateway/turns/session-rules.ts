import type { RandomKey, Sampling } from '../../core/services/generator.ts';
import type { SamplingRequest } from '../sampling/served-model.ts';
import type { TurnOwners } from './turn-owners.ts';

/** How the turns of a session are sampled, and what becomes of them. */
export interface SessionRules {
  /** Names its turns, with what they answer: the same for the same rollout, and for no other. */
  secret: string;
  /** The run's; a client's own counts only without it. */
  sampling: Sampling | undefined;
  /** The weights that sample them; the newest by default. */
  version?: number | undefined;
  maxTurnTokens: number;
  /** In one sequence. */
  maxTurns: number;
  /** Whether the model goes on from what it sampled, or reads its turns as the client sends them back. */
  history: 'sampled' | 'sent';
  /** @param draw a number that is the same for the same tokens and the same place among equal requests */
  keyOf: (request: SamplingRequest, index: number, draw: number) => RandomKey;
  /** For many clients: streams tell them what is sampled before a turn has ended, and no context is kept for a turn's next one. */
  live: boolean;
  /** Of turns that are remembered. */
  mostTokens: number;
  attempt: <Value>(work: () => Promise<Value>) => Promise<Value>;
  owners?: TurnOwners | undefined;
  /** Without what no model must read. */
  redact: (text: string) => string;
  onIgnored?: (field: string) => void;
}
