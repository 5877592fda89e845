import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';

/** Writes an embedding model that can be worked out by hand: its README has the vector of each word that it knows. */
export function writeTinyEmbeddingModel(folder: string): string {
  cpSync(join(packageRoot(), 'tests/fixtures/tiny-embedder'), folder, { recursive: true });
  return folder;
}
