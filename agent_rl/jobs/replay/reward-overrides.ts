import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';

import { parse } from 'yaml';

import type { Override } from '../../config/index.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';

/** Blocks that decide what recorded rollouts earn. */
const blocks = ['rewards', 'rewardManager', 'algorithm', 'plugins'];

/**
 * The settings of a file of rewards, over those of a run. Files of plugins are relative to it.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function rewardOverrides(file: string): Override[] {
  let found: unknown;
  try {
    found = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw invalid(file, messageOf(cause), cause);
  }
  const names = isRecord(found) ? Object.keys(found) : [];
  const other = names.find((name) => !blocks.includes(name));
  if (!isRecord(found) || names.length === 0 || other !== undefined)
    throw invalid(file, `it has ${other ?? 'no settings'}; allowed: ${blocks.join(', ')}`);
  return names.flatMap((name) => settingsOf(name, found[name], dirname(resolve(file))));
}

const source = 'agent-rl runs rescore --rewards';

function settingsOf(name: string, value: unknown, folder: string): Override[] {
  if (name === 'plugins' && Array.isArray(value)) {
    const place = (one: unknown): unknown =>
      typeof one === 'string' && one.startsWith('.') && !isAbsolute(one)
        ? resolve(folder, one)
        : one;
    return [{ source, path: name, value: value.map(place), append: true }];
  }
  if (name !== 'algorithm' || !isRecord(value)) return [{ source, path: name, value }];
  return Object.entries(value).map(([key, own]) => ({
    source,
    path: `algorithm.${key}`,
    value: own,
  }));
}

const invalid = (file: string, problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError(
    'CONFIG_INVALID',
    `${resolve(file)}: ${problem}. Write a YAML file such as "rewards: [{type: exact, weight: 1}]".`,
    { cause },
  );
