import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { parse } from 'yaml';

import type { Override } from '../../config/index.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';

/** Blocks that decide what recorded rollouts earn. */
const blocks = /^(?:reward|algorithm)/;

/** The settings of a file of rewards, over the run's. @throws AgentRlError `CONFIG_INVALID` */
export function rewardOverrides(file: string): Override[] {
  const found = settingsIn(file);
  const other = Object.keys(found).find((name) => !blocks.test(name));
  if (other !== undefined) throw invalid(file, `it sets ${other}`);
  const { algorithm = {}, ...whole } = found;
  const source = `--rewards ${file}`;
  const inner = isRecord(algorithm) ? Object.entries(algorithm) : [];
  return [
    ...Object.entries(whole).map(([path, value]) => ({ source, path, value })),
    ...inner.map(([key, value]) => ({ source, path: `algorithm.${key}`, value })),
  ];
}

function settingsIn(file: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = parse(readFileSync(file, 'utf8'));
    if (isRecord(found)) return found;
    throw new Error('it holds no settings');
  } catch (thrown) {
    throw invalid(file, messageOf(thrown));
  }
}

const invalid = (file: string, problem: string): AgentRlError =>
  new AgentRlError(
    'CONFIG_INVALID',
    `${resolve(file)}: ${problem}. Allowed: the blocks on rewards, and algorithm, such as "rewards: [{type: exact_match, weight: 1}]". Name plugins with --plugin.`,
  );
