import { expect } from '@jest/globals';

import { isSystemFailure, outcomes } from '../../agent_rl/core/outcome.ts';
import type { Turn, Verdict } from '../../agent_rl/core/plugins/environment.ts';

const message = { role: 'assistant', content: 'I give up.' } as const;
/** A turn that gives up. */
export const silentTurn = (index: number): Turn => ({ index, message, calls: [] });

/** What every verdict of an environment is. */
export function expectWellFormed({ outcome, reward, components, metrics, success }: Verdict): void {
  expect(outcomes).toContain(outcome);
  for (const value of [...Object.values(components), ...Object.values(metrics ?? {})]) {
    expect(Number.isFinite(value)).toBe(true);
  }
  expect(reward === undefined).toBe(isSystemFailure(outcome));
  const sum = Object.values(components).reduce((total, part) => total + part, 0);
  expect(reward ?? sum).toBeCloseTo(sum, 10);
  expect(success && reward === undefined).toBe(false);
}
