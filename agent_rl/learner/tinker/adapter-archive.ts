import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { parseTar } from 'nanotar';

import type { Adapter, ModelConfig } from '../../../model/config/architecture.ts';
import { readAdapterWeights } from '../../../model/adapters/adapter-files.ts';

/** Unpacked, an archive may not fill the memory. */
const mostBytes = 2 ** 31;
const weightsFile = 'adapter_model.safetensors';

/**
 * The tensors of a PEFT folder that was downloaded as tar.gz, held against the adapter that was asked for.
 *
 * @throws Error for an archive that holds none; AgentRlError `MODEL_INVALID` for one of another adapter
 */
export async function adapterIn(
  archive: Buffer,
  config: ModelConfig,
  adapter: Adapter,
): Promise<Map<string, Float32Array>> {
  const bytes = await promisify(gunzip)(archive, { maxOutputLength: mostBytes });
  const file = parseTar(bytes).find(
    ({ name, type }) => type === 'file' && name.replace(/^.*\//, '') === weightsFile,
  );
  if (file?.data === undefined) throw new Error(`The archive does not contain ${weightsFile}.`);
  const folder = await mkdtemp(join(tmpdir(), 'agent-rl-adapter-'));
  try {
    await writeFile(join(folder, weightsFile), file.data);
    return await readAdapterWeights(folder, config, adapter);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
