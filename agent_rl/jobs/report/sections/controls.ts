import { readFileSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { isRecord } from '../../../core/is-record.ts';
import { rateText } from '../../../runs/evaluation-table.ts';
import type { SuccessRate } from '../../../trainer/success-rate.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { type Section, table, text } from '../report.ts';

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

/** Reads a `controls.json`. @throws AgentRlError `CONFIG_INVALID` for any other file */
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
    throw new Error('an entry of "seeds" lacks "seed" or "controls"');
  const controls = Object.entries(value['controls']).map(([name, one]) => [name, resultOf(one)]);
  return { seed: value['seed'], controls: Object.fromEntries(controls) };
}

function resultOf(value: unknown): ControlResult | null {
  if (value === null) return null;
  if (!isRecord(value) || !isRecord(value['after']))
    throw new Error('an entry of "controls" lacks "after"');
  const { after } = value as unknown as ControlResult;
  return { after };
}

const noControls =
  'This report has no controls: it does not compare the result with more supervised training, rejection sampling, shuffled rewards or a lookup table that uses no model. To run these controls, use "npm run bench:controls" in a checkout, then make the report with --controls FILE.';

const titleOf = (name: string): string => {
  const words = name.replaceAll('-', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
};

const cellOf =
  (name: string) =>
  ({ controls }: Controls['seeds'][number]): string => {
    const result = controls[name];
    return result === undefined || result === null ? 'not run' : rateText(result.after);
  };

/** How controls did on the same held-out tasks, or that no controls exist. */
export function controlsSection(runs: readonly ReportedRun[], controls?: Controls): Section {
  const title = 'Controls';
  if (controls === undefined) return { title, blocks: [text(noControls)] };
  const names = [...new Set(controls.seeds.flatMap((one) => Object.keys(one.controls)))];
  const rows = names.map((name) => [titleOf(name)].concat(controls.seeds.map(cellOf(name))));
  const head = [
    'Held-out success, without slices',
    ...controls.seeds.map(({ seed }) => `seed ${seed}`),
  ];
  const seeds = new Set(runs.map((run) => run.settings.at('run.seed')));
  const others = controls.seeds.filter(({ seed }) => !seeds.has(seed)).map(({ seed }) => seed);
  const notes = [
    `Controls of ${controls.config}, each evaluated separately.`,
    ...(others.length > 0 ? [`This report has no run with seed ${others.join(', ')}.`] : []),
  ];
  return { title, blocks: [...table(head, rows), text(notes.join(' '))] };
}
