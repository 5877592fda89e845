import type { KeyedRng } from '../core/keyed-rng.ts';
import type { ToolResult } from '../core/plugins/tool.ts';

/** Seconds beyond the deadline of a request: time to say that it passed. */
export const graceS = 5;

/** A name for a call that is the same in every repetition of its run: 48 bits of its own randomness. */
export function callName(random: KeyedRng): string {
  const own = random.child('call name');
  return [0, 1].map((place) => (own.at(place) * 0x1000000).toString(16).padStart(6, '0')).join('');
}

/** The result of a failed call: the text for the model, and the facts for environments and rewards. */
export const failed = (text: string, data: object): ToolResult => ({
  content: `Error: ${text}.`,
  isError: true,
  data,
});
