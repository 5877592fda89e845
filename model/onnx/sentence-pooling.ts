import { existsSync } from 'node:fs';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readJson } from '../config/read-json.ts';

/** How token vectors become one, as `dense.pooling` names it. */
export type Pooling = 'mean' | 'cls' | 'last_token';

const modes: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last_token',
};

const known = ['Transformer', 'Pooling', 'Normalize'];

/**
 * What modules.json and the pooling of Sentence Transformers say; undefined for a folder without modules.json.
 *
 * @throws AgentRlError `MODEL_INVALID` for modules that make other vectors, such as a dense layer, and for other poolings
 */
export async function readPooling(folder: string): Promise<Pooling | undefined> {
  const file = path.join(folder, 'modules.json');
  if (!existsSync(file)) return undefined;
  const modules = await readJson(file, 'MODEL_INVALID');
  const list = (Array.isArray(modules) ? modules : []).map((one: unknown) => ({
    type: isRecord(one) ? String(one['type']) : '',
    place: isRecord(one) ? String(one['path']) : '',
  }));
  const other = list.find(({ type }) => !known.some((name) => type.endsWith(`.${name}`)));
  if (other !== undefined) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${file} has the module "${other.type}"; only an encoder with pooling and normalisation can be exported.`,
    );
  }
  const pooling = list.find(({ type }) => type.endsWith('.Pooling'));
  if (pooling === undefined) return undefined;
  return poolingOf(path.join(folder, pooling.place, 'config.json'));
}

async function poolingOf(file: string): Promise<Pooling> {
  const json = await readJson(file, 'MODEL_INVALID');
  const chosen = Object.entries(isRecord(json) ? json : {})
    .filter(([name, value]) => name.startsWith('pooling_mode_') && value === true)
    .map(([name]) => name);
  const [name = ''] = chosen;
  const mode = modes[name];
  if (mode !== undefined && chosen.length === 1) return mode;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${file} selects ${chosen.join(' and ') || 'no pooling'}; expected one of ${Object.keys(modes).join(', ')}.`,
  );
}
