import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { type Static, Type } from '../../core/typebox.ts';
import { checkBlock } from '../../config/index.ts';
import { AgentRlError, messageOf, nodeCodeOf } from '../../core/errors.ts';

/** Raised when a folder that was built before cannot be read any more. */
export const corpusSchema = 2;

/** The LanceDB that this version searches with; a test holds it to package.json. */
export const lanceVersion = '0.27.2';

const ManifestFile = Type.Object({
  kind: Type.Literal('agent_rl.corpus'),
  schema: Type.Integer(),
  versions: Type.Object({ agent_rl: Type.String(), lancedb: Type.String() }),
  /** What it was built from. */
  input: Type.Object({ sha256: Type.String(), files: Type.Array(Type.String()) }),
  counts: Type.Object({ documents: Type.Integer(), passages: Type.Integer() }),
  /** Build settings, in the form they are compared in. */
  settings: Type.String(),
  dense: Type.Union([
    Type.Null(),
    Type.Object({
      embedder: Type.String(),
      dimensions: Type.Integer({ minimum: 1 }),
      /** The vector of `probeText`: the same name can stand for other weights. */
      probe: Type.Array(Type.Number()),
    }),
  ]),
  /** Whether vectors have an approximate index. */
  approximate: Type.Boolean(),
  /** Every file of the table: what is missing, added or changed is damage. */
  files: Type.Array(
    Type.Object({ path: Type.String(), bytes: Type.Integer(), sha256: Type.String() }),
  ),
});

/** The description of an index, in `manifest.json`. */
export type CorpusManifest = Static<typeof ManifestFile>;

export const probeText = 'What does the index say about itself?';

export const manifestName = 'manifest.json';
export const tableFolder = 'lance';

const rebuildAdvice = 'Rebuild it with agent-rl data index INPUT --output FOLDER --rebuild.';

/** @throws AgentRlError `CORPUS_INVALID` when it does not exist or cannot be read */
export async function readManifest(folder: string): Promise<CorpusManifest> {
  const file = join(folder, manifestName);
  const manifest = await readJson(file);
  const { problems } = checkBlock(ManifestFile, manifest, { path: '', places: new Map() });
  const [problem] = problems;
  if (problem === undefined) return manifest as CorpusManifest;
  throw new AgentRlError(
    'CORPUS_INVALID',
    `${file} is not a manifest of a corpus index: ${problem.path} ${problem.text} ${rebuildAdvice}`,
  );
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    const missing = nodeCodeOf(cause) === 'ENOENT';
    const why = missing
      ? 'does not exist: the folder contains no corpus index, or one whose build was interrupted'
      : `cannot be read as JSON: ${messageOf(cause)}`;
    const advice = missing
      ? 'Build one with agent-rl data index INPUT --output FOLDER.'
      : rebuildAdvice;
    throw new AgentRlError('CORPUS_INVALID', `${file} ${why}. ${advice}`, { cause });
  }
}

/** Every file below a folder, with size and SHA-256, in the order of their paths. */
export async function filesBelow(folder: string): Promise<CorpusManifest['files']> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
  const files: CorpusManifest['files'] = [];
  for (const path of names) files.push(await described(folder, path));
  return files;
}

async function described(folder: string, path: string) {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(join(folder, path)), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { path, bytes, sha256: hash.digest('hex') };
}

/**
 * Compares the files of an index with its manifest.
 *
 * @throws AgentRlError `CORPUS_INVALID` naming the first file that is missing, added or changed
 */
export async function checkFiles(folder: string, manifest: CorpusManifest): Promise<void> {
  const table = join(folder, tableFolder);
  const found = new Map((await filesOf(table)).map((file) => [file.path, file]));
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = found.get(path);
    if (file === undefined) throw damaged(table, `${path} is missing`);
    if (file.bytes !== bytes) throw damaged(table, `${path} has ${file.bytes} bytes, not ${bytes}`);
    if (file.sha256 !== sha256) throw damaged(table, `the contents of ${path} have changed`);
    found.delete(path);
  }
  const [extra] = found.keys();
  if (extra !== undefined) throw damaged(table, `${extra} was added`);
}

async function filesOf(table: string): Promise<CorpusManifest['files']> {
  try {
    return await filesBelow(table);
  } catch (cause) {
    throw damaged(table, messageOf(cause), cause);
  }
}

export const damaged = (folder: string, what: string, cause?: unknown): AgentRlError =>
  new AgentRlError(
    'CORPUS_INVALID',
    `The corpus index in ${folder} is damaged: ${what}. ${rebuildAdvice}`,
    { cause },
  );

/** @throws AgentRlError `CORPUS_MISMATCH` for an index that another version wrote */
export function checkVersions(folder: string, { schema, versions }: CorpusManifest): void {
  if (schema === corpusSchema && versions.lancedb === lanceVersion) return;
  throw new AgentRlError(
    'CORPUS_MISMATCH',
    `The corpus index in ${folder} has format ${schema} and was written with LanceDB ${versions.lancedb}; this version reads format ${corpusSchema} with LanceDB ${lanceVersion}. ${rebuildAdvice}`,
  );
}
