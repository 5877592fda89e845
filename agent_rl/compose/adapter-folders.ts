import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { holdsAdapter, readAdapterConfig } from '../../model/adapter-files.ts';

/**
 * Folders of adapters, each after those it was trained over and none twice.
 *
 * @param namedBy - the flag or setting they were given with
 * @throws AgentRlError `MODEL_INVALID` when one holds no adapter, or one that cannot be read.
 */
export async function adapterFolders(
  names: readonly string[],
  namedBy: string,
): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const name of names) {
    const folder = adapterFolder(name, namedBy);
    const { under } = await readAdapterConfig(folder, 'any');
    const before = under.map((one) => adapterFolder(one, `agent_rl_under of ${folder}`));
    for (const one of [...before, folder]) folders.add(one);
  }
  return [...folders];
}

function adapterFolder(name: string, namedBy: string): string {
  const folder = resolve(name);
  if (holdsAdapter(folder)) return folder;
  const why = existsSync(folder) ? 'holds no adapter_config.json' : 'is not there';
  throw new AgentRlError(
    'MODEL_INVALID',
    `No adapter is in "${name}" (${namedBy}): ${folder} ${why}. Give the folder of a LoRA adapter as PEFT stores it.`,
  );
}
