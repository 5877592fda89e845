import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import { type Static, type TSchema, Type, Value } from '../../core/typebox.ts';
import { checkBlock } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { CorpusItem, CorpusSource, Passage } from '../../search/corpus/index.ts';
import { readJsonLines } from '../../../dataset/tables/json-lines.ts';

// What a column of the table holds.
const place = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
const identifier = Type.String({ minLength: 1 });
const content = {
  title: Type.Optional(Type.String()),
  text: Type.String(),
  url: Type.Optional(Type.String()),
};
const open = { additionalProperties: true };

const DocumentLine = Type.Object({ id: identifier, ...content }, open);

const PassageLine = Type.Object(
  { document_id: identifier, ...content, start: place, end: Type.Optional(place) },
  open,
);

/** As `agent-rl data prepare` writes them: a passage that several documents have is kept once. */
const ChunkLine = Type.Object(
  { documentIds: Type.Array(identifier, { minItems: 1 }), ...content, start: place, end: place },
  open,
);

/** Files that a folder may hold, the first of them that is there being read. */
const folderFiles = ['chunks.jsonl', 'documents.jsonl'];

export interface ReadCorpus extends CorpusSource {
  /** False when all of it was cut into passages before. */
  hasDocuments: boolean;
}

/**
 * What an index is built from: a JSONL file, or a folder of prepared data, whose passages are taken if there are any
 * and its documents otherwise. A line with `document_id` or `documentIds` is a passage, any other one a document.
 *
 * @throws AgentRlError `DATASET_INVALID` when there is no such file, and for the first line that is neither
 */
export async function readCorpus(input: string): Promise<ReadCorpus> {
  const file = fileOf(input);
  const read = () => itemsOf(file);
  return { ...(await lookedThrough(read())), files: [basename(file)], read };
}

/**
 * SHA-256 of what is indexed, as one JSON list: spaces, the order of keys and other keys do not count. And whether
 * there is a document in it.
 */
async function lookedThrough(items: AsyncIterable<CorpusItem>) {
  const hash = createHash('sha256').update('[');
  let separator = '';
  let hasDocuments = false;
  for await (const item of items) {
    hasDocuments ||= 'document' in item;
    hash.update(separator + JSON.stringify('document' in item ? item.document : item.passage));
    separator = ',';
  }
  return { sha256: hash.update(']').digest('hex'), hasDocuments };
}

function fileOf(input: string): string {
  if (!existsSync(input)) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `${input} does not exist. Choose a JSONL file of documents or passages, or a folder created by agent-rl data prepare.`,
    );
  }
  if (!statSync(input).isDirectory()) return input;
  const name = folderFiles.find((candidate) => existsSync(join(input, candidate)));
  if (name !== undefined) return join(input, name);
  throw new AgentRlError(
    'DATASET_INVALID',
    `The folder ${input} contains no ${folderFiles.join(' or ')}. Choose a JSONL file, or a folder created by agent-rl data prepare.`,
  );
}

async function* itemsOf(file: string): AsyncGenerator<CorpusItem> {
  for await (const row of readJsonLines(file)) {
    if ('problem' in row) throw invalid(file, row.line, row.problem.text);
    yield itemOf(row.value, file, row.line);
  }
}

function itemOf(value: unknown, file: string, line: number): CorpusItem {
  const has = (key: string): boolean => typeof value === 'object' && value !== null && key in value;
  const check = <Schema extends TSchema>(schema: Schema): Static<Schema> => {
    // The quick check alone for the lines that are right, which are nearly all.
    if (Value.Check(schema, value)) return value;
    const [problem] = checkBlock(schema, value, { path: '', places: new Map() }).problems;
    const text = [problem?.path, problem?.text ?? 'is not allowed.'].filter(Boolean).join(': ');
    throw invalid(file, line, text);
  };
  if (has('documentIds')) {
    const chunk = check(ChunkLine);
    return { passage: passageOf(chunk.documentIds, chunk) };
  }
  if (has('document_id')) {
    const passage = check(PassageLine);
    return { passage: passageOf([passage.document_id], passage) };
  }
  const { id, title = '', text, url } = check(DocumentLine);
  return { document: { id, title, text, url } };
}

function passageOf(
  [documentId = '', ...alsoIn]: readonly string[],
  {
    title = '',
    text,
    url,
    start,
    end = start + text.length,
  }: Omit<Static<typeof PassageLine>, 'document_id'>,
): Passage {
  const others = alsoIn.length > 0 ? alsoIn : undefined;
  return { documentId, title, text, start, end, alsoIn: others, url };
}

const invalid = (file: string, line: number, text: string): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `${file}:${line} ${text} A line is {"id", "title", "text", "url"} or {"document_id", "title", "text", "url", "start", "end"}; title and url are optional.`,
  );
