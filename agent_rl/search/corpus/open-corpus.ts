import { join } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { Embedder, SearchBackend } from '../../core/services/search.ts';
import { openBackend } from './corpus-backend.ts';
import { cosine } from './embedders/unit-vector.ts';
import {
  checkFiles,
  checkVersions,
  type CorpusManifest,
  damaged,
  probeText,
  readManifest,
  tableFolder,
} from './manifest.ts';
import type { OpenCorpusOptions } from './open-embedder.ts';
import { PassageTable } from './passage-table.ts';
import type { CorpusSettings } from './settings.ts';

/**
 * Opens a built index for searching. Reads only; any number of searches may be in flight.
 *
 * @throws AgentRlError `CORPUS_INVALID` for a folder that is not an index or a damaged one, `CORPUS_MISMATCH` for one
 *   built by another version or with another embedder, `EMBEDDER_UNAVAILABLE`
 */
export async function openCorpusBackend(
  settings: CorpusSettings,
  options: OpenCorpusOptions = {},
): Promise<SearchBackend> {
  const { path } = settings;
  const manifest = await readManifest(path);
  checkVersions(path, manifest);
  await checkFiles(path, manifest);
  return openBackend(settings, options, async (embedder) => {
    if (embedder !== undefined) await checkEmbedder(path, manifest, embedder);
    return tableOf(path, manifest);
  });
}

async function tableOf(path: string, { approximate, counts }: CorpusManifest) {
  const table = await PassageTable.open(join(path, tableFolder), approximate).catch(
    (cause: unknown) => {
      if (AgentRlError.is(cause)) throw cause;
      throw damaged(path, `LanceDB cannot open it (${messageOf(cause)})`, cause);
    },
  );
  const passages = await table.countPassages();
  if (passages === counts.passages) return table;
  table.close();
  throw damaged(
    path,
    `it contains ${passages} passages, but its manifest lists ${counts.passages}`,
  );
}

// Other batch sizes, processors and numbers of threads move a cosine by less than 1e-4, other weights by far more.
const sameVector = 0.999;

async function checkEmbedder(
  path: string,
  { dense }: CorpusManifest,
  embedder: Embedder,
): Promise<void> {
  if (dense === null) {
    throw mismatch(path, `has no vectors, but dense is set to ${embedder.name}`);
  }
  if (dense.embedder !== embedder.name) {
    throw mismatch(path, `has vectors of ${dense.embedder}, but dense is set to ${embedder.name}`);
  }
  const [vector = new Float32Array()] = await embedder.embed([probeText], 'passage');
  if (vector.length !== dense.dimensions) {
    const widths = `${dense.dimensions} numbers, but ${embedder.name} now returns ${vector.length}`;
    throw mismatch(path, `has vectors of ${widths}`);
  }
  const likeness = cosine(dense.probe, vector);
  if (likeness >= sameVector) return;
  throw mismatch(
    path,
    `was built when ${embedder.name} returned different vectors (the cosine between the old and the new vector of a text is ${likeness.toFixed(4)})`,
  );
}

const mismatch = (path: string, what: string): AgentRlError =>
  new AgentRlError(
    'CORPUS_MISMATCH',
    `The corpus index in ${path} ${what}. Use the dense settings it was built with, set dense: none to search by words only, or rebuild it with agent-rl data index INPUT --output FOLDER --rebuild.`,
  );
