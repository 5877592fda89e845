import { createHash } from 'node:crypto';

import { AgentRlError } from '../../core/errors.ts';
import type { ToolSpec } from '../../core/plugins/tool.ts';
import { canonicalJson } from '../../core/services/canonical-json.ts';

/** SHA-256 of name, description and schema of each tool that a tool set holds, by the tool's name in the run. Plain JSON. */
export type FoundTools = Readonly<Record<string, string>>;

export const foundTools = (specs: readonly ToolSpec[]): FoundTools =>
  Object.fromEntries(
    specs.map(({ name, description, parameters }) => {
      const shown = canonicalJson({ name, description, parameters });
      return [name, createHash('sha256').update(shown).digest('hex')];
    }),
  );

/** Refuses to resume a run whose tool sets hold other tools than it began with. @throws AgentRlError `CHECKPOINT_INVALID` */
export function checkFoundTools(run: string, before: FoundTools = {}, now: FoundTools = {}): void {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const changes = [...names].flatMap((name) => {
    if (before[name] === now[name]) return [];
    if (before[name] === undefined) return [`${name} is new`];
    return [now[name] === undefined ? `${name} is gone` : `${name} has changed`];
  });
  if (changes.length === 0) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run ${run} cannot be resumed: its tool sets hold other tools than it began with (${changes.join(', ')}). Use the servers' earlier versions, or start a new run from its checkpoint with --model.`,
  );
}
