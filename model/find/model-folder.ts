import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { holdsModel } from '../weights/open-model.ts';
import { localLayers } from './local-layers.ts';

/** How a model is named. */
type NamedModel = Pick<Config['model'], 'path' | 'hfModelName'>;

const remedies = {
  config: 'Give a Hugging Face model folder, or a model of the hub as org/name, with --model.',
  command: 'Give a Hugging Face model folder, or a model of the hub as org/name.',
} as const;

/**
 * The folder a config's model is in, or that of a command: relative to the working directory, or among what the package ships.
 *
 * @throws AgentRlError `MODEL_INVALID` when it is in neither. Ids of the hub were made folders by `withLocalModel`.
 */
export function modelFolder(
  { model }: { model: NamedModel },
  namedBy: keyof typeof remedies = 'config',
): string {
  const name = model.hfModelName ?? model.path;
  const places = placesOf(name);
  const found = places.find(holdsModel);
  if (found !== undefined) return found;
  const hub = model.hfModelName === undefined ? '' : ' A model of the hub is named as org/name.';
  throw new AgentRlError(
    'MODEL_INVALID',
    `No model is in "${name}": there is no config.json and no adapter_config.json in ${places.join(' or ')}.${hub} ${remedies[namedBy]}`,
  );
}

/** Where a model's folder of this name would be: an absolute name stands for one place alone. */
export const placesOf = (name: string): readonly string[] =>
  isAbsolute(name) ? [name] : [resolve(name), join(packageRoot(), name)];

/** Where tokenizer and template are: an adapter may come without, and then speaks as the model under it. */
export async function textFolder(folder: string): Promise<string> {
  if (existsSync(join(folder, 'tokenizer.json'))) return folder;
  return (await localLayers({ folder })).base;
}
