import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import type { Embedder, SearchDocument } from '../../core/services/search.ts';
import { writeFileAtomic, writeFolderAtomic, writeFolderOnce } from '../../telemetry/index.ts';
import { canonicalJson } from '../../core/services/canonical-json.ts';
import { checkSettings } from './check-settings.ts';
import { type Chunker, makeChunker } from './chunk-document.ts';
import {
  checkFiles,
  checkVersions,
  type CorpusManifest,
  corpusSchema,
  filesBelow,
  lanceVersion,
  manifestName,
  probeText,
  readManifest,
  tableFolder,
} from './manifest.ts';
import { embedderFor } from './open-embedder.ts';
import { type Passage, searchedText } from './passage.ts';
import { PassageTableWriter } from './passage-table-writer.ts';
import type { BuildSettings } from './settings.ts';
import { append } from '../../core/long-lists.ts';

/** One thing to index: a document, which is cut if it is long, or a passage that was cut before. */
export type CorpusItem = { document: SearchDocument } | { passage: Passage };

/** The inputs of an index build. */
export interface CorpusSource {
  /** Of everything that is read, so that a changed input is noticed. */
  sha256: string;
  /** For the reader of the manifest. */
  files: readonly string[];
  read(): AsyncIterable<CorpusItem> | Iterable<CorpusItem>;
}

export interface BuildCorpusOptions {
  source: CorpusSource;
  /** Folder of the index. */
  output: string;
  settings?: BuildSettings;
  /** Replaces an index that is there, whole or damaged. */
  rebuild?: boolean;
  /** What to do about an index of other input or settings, where it is not `agent-rl data index` that met it. */
  advice?: string;
  /** Used instead of opening the one that `dense` names. */
  embedder?: Embedder;
  version: string;
  signal?: AbortSignal;
}

export interface CorpusBuild {
  manifest: CorpusManifest;
  /** False when the index was there already, whole and of the same input and settings. */
  built: boolean;
  /** Passages of which the embedder read only the beginning; absent where that is not known. */
  shortened?: number | undefined;
}

// HNSW pays above this many vectors; below, comparing all is fast and exact.
const defaultAnnFrom = 100_000;

const batchPassages = 2048;

/**
 * Builds an index in a folder, whole or not at all. What is there already is kept when it is of the same input and
 * settings, and replaced only by `rebuild`.
 *
 * @throws AgentRlError `CORPUS_MISMATCH` when an index of something else is there, `CORPUS_INVALID` when a damaged
 *   one is, `OUTPUT_UNWRITABLE` when the folder holds other things or is a file, `CONFIG_INVALID`,
 *   `DATASET_INVALID`, `EMBEDDER_UNAVAILABLE`
 */
export async function buildCorpus(options: BuildCorpusOptions): Promise<CorpusBuild> {
  const { output, settings = {}, rebuild = false, advice } = options;
  checkSettings(settings);
  const identity = identityOf(options);
  const there = await namesIn(output);
  refuseForeign(output, there);
  if (there.length > 0 && !rebuild) {
    return { manifest: await existing(output, identity, advice), built: false };
  }
  const held = await embedderFor(settings.dense, options);
  try {
    const write = rebuild ? writeFolderAtomic : writeFolderOnce;
    const made = await write(output, (folder) =>
      fill(folder, { ...options, identity, embedder: held.embedder }),
    );
    if (made !== undefined) return { ...made, built: true };
    // Two runs that begin at once both find no index.
    return { manifest: await existing(output, identity, advice), built: false };
  } finally {
    await held.release();
  }
}

interface Identity {
  sha256: string;
  settings: string;
}

const howServerIsAsked = new Set(['baseUrl', 'apiKeyEnv', 'timeoutS', 'maxRetries']);

/** What decides the contents of an index. Where a server is and how it is asked does not. */
function identityOf({ source, settings = {}, embedder }: BuildCorpusOptions): Identity {
  const { dense = embedder?.name ?? 'none', chunking = {}, text = {}, annFrom } = settings;
  const model =
    typeof dense === 'string'
      ? dense
      : Object.fromEntries(Object.entries(dense).filter(([key]) => !howServerIsAsked.has(key)));
  const all = { dense: model, chunking, text, annFrom: annFrom ?? defaultAnnFrom };
  return { sha256: source.sha256, settings: canonicalJson(all) };
}

async function namesIn(output: string): Promise<string[]> {
  if (!existsSync(output)) return [];
  if (!statSync(output).isDirectory()) {
    throw new AgentRlError(
      'OUTPUT_UNWRITABLE',
      `${output} is a file, but an index is a folder. Choose an empty or a new folder.`,
    );
  }
  return readdir(output);
}

/** Only what this program writes is ever replaced. */
function refuseForeign(output: string, there: readonly string[]): void {
  const foreign = there.find((name) => name !== manifestName && name !== tableFolder);
  if (foreign === undefined) return;
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${output} contains ${foreign}, which is not part of a corpus index. Choose an empty or a new folder.`,
  );
}

async function existing(
  output: string,
  identity: Identity,
  advice = 'Choose another folder, delete this one, or replace it with agent-rl data index --rebuild.',
): Promise<CorpusManifest> {
  const manifest = await readManifest(output);
  checkVersions(output, manifest);
  const differs =
    manifest.input.sha256 !== identity.sha256
      ? 'different input'
      : manifest.settings !== identity.settings && `different settings (${manifest.settings})`;
  if (differs !== false) {
    throw new AgentRlError(
      'CORPUS_MISMATCH',
      `${output} contains an index built from ${differs}. ${advice}`,
    );
  }
  await checkFiles(output, manifest);
  return manifest;
}

interface FillOptions extends Omit<BuildCorpusOptions, 'embedder'> {
  identity: Identity;
  embedder: Embedder | undefined;
}

async function fill(folder: string, options: FillOptions): Promise<Omit<CorpusBuild, 'built'>> {
  const { source, settings = {}, embedder, identity, version, signal } = options;
  const [probe] = (await embedder?.embed([probeText], 'passage', signal)) ?? [];
  const before = embedder?.shortened;
  const path = join(folder, tableFolder);
  const shape = {
    text: settings.text ?? {},
    dimensions: probe?.length ?? 0,
    annFrom: settings.annFrom ?? defaultAnnFrom,
  };
  const written = await PassageTableWriter.write(path, shape, (writer) => addAll(writer, options));
  written.table.close();
  const manifest: CorpusManifest = {
    kind: 'agent_rl.corpus',
    schema: corpusSchema,
    versions: { agent_rl: version, lancedb: lanceVersion },
    input: { sha256: identity.sha256, files: [...source.files] },
    counts: written.filled,
    settings: identity.settings,
    dense:
      embedder === undefined || probe === undefined
        ? null
        : { embedder: embedder.name, dimensions: probe.length, probe: [...probe] },
    approximate: written.approximate,
    files: await filesBelow(path),
  };
  writeFileAtomic(join(folder, manifestName), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const after = embedder?.shortened;
  const isKnown = before !== undefined && after !== undefined;
  return { manifest, shortened: isKnown ? after - before : undefined };
}

async function addAll(writer: PassageTableWriter, options: FillOptions) {
  const { source, settings = {}, embedder, signal } = options;
  const passagesOf = itemReader(await makeChunker(settings.chunking));
  let batch: Passage[] = [];
  let passages = 0;
  const flush = async (): Promise<void> => {
    signal?.throwIfAborted();
    const vectors = (await embedder?.embed(batch.map(searchedText), 'passage', signal)) ?? [];
    await writer.add(batch, vectors);
    passages += batch.length;
    batch = [];
  };
  for await (const item of source.read()) {
    append(batch, passagesOf.read(item));
    if (batch.length >= batchPassages) await flush();
  }
  await flush();
  if (passages === 0) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `${source.files.join(', ')} contains no text to index: it has no documents, or only blank ones. Add documents with text.`,
    );
  }
  return { documents: passagesOf.documents, passages };
}

const twice = (what: string): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `${what} occurs twice in the input. Keep only one of the two.`,
  );

function itemReader(chunk: Chunker) {
  const documents = new Set<string>();
  const holders = new Set<string>();
  const places = new Set<string>();
  const whole = new Set<string>();
  const read = (item: CorpusItem): readonly Passage[] => {
    if ('document' in item) {
      const { id } = item.document;
      if (documents.has(id)) throw twice(`The document ${JSON.stringify(id)}`);
      documents.add(id);
      whole.add(id);
      return chunk(item.document);
    }
    const { documentId: id, start, text } = item.passage;
    for (const holder of item.passage.alsoIn ?? []) holders.add(holder);
    const place = JSON.stringify([id, start]);
    if (whole.has(id))
      throw twice(`As a whole and as passages, the document ${JSON.stringify(id)}`);
    if (places.has(place)) throw twice(`The passage of ${JSON.stringify(id)} at ${start}`);
    documents.add(id);
    places.add(place);
    return text.trim() === '' ? [] : [item.passage];
  };
  return {
    read,
    get documents() {
      return new Set([...documents, ...holders]).size;
    },
  };
}
