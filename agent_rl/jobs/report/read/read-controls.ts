import { readFileSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { isRecord } from '../../../core/is-record.ts';
import type { SuccessRate } from '../../../trainer/success-rate.ts';

/** What `npm run bench:controls` found, as far as a report shows it. */
export interface Controls {
  /** The run file it was made for. */
  config: string;
  seeds: readonly SeedOfControls[];
}

interface SeedOfControls {
  seed: number;
  /** By the name of the control; null for one that was not run. */
  controls: Readonly<Record<string, ControlResult | null>>;
}

export interface ControlResult {
  after: SuccessRate;
}

/** Reads a `controls.json`. @throws AgentRlError `CONFIG_INVALID` for a file that is none */
export function readControls(file: string): Controls {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(value) || !Array.isArray(value['seeds'])) throw new Error('it has no "seeds"');
    return { config: String(value['config']), seeds: value['seeds'].map(seedOf) };
  } catch (cause) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--controls ${file} cannot be read: ${messageOf(cause)}. Give the controls.json that "npm run bench:controls" wrote.`,
      { cause },
    );
  }
}

function seedOf(value: unknown): SeedOfControls {
  if (!isRecord(value) || typeof value['seed'] !== 'number' || !isRecord(value['controls']))
    throw new Error('a seed of it has no "seed" or no "controls"');
  const controls = Object.entries(value['controls']).map(([name, one]) => [name, resultOf(one)]);
  return { seed: value['seed'], controls: Object.fromEntries(controls) };
}

function resultOf(value: unknown): ControlResult | null {
  if (value === null) return null;
  if (!isRecord(value) || !isRecord(value['after']))
    throw new Error('a control of it has no "after"');
  const { after } = value as unknown as ControlResult;
  return { after };
}
