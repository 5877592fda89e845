import type { Connection, Table } from '@lancedb/lancedb';

import { loadLance, type LanceModules } from './lance.ts';
import { byDocument, type Passage, textOf } from './passage.ts';

/** A passage in a ranked list, best first. */
export interface Ranked {
  rowId: bigint;
  documentId: string;
  start: number;
  /** Higher is better. Equal ones are ordered by document. */
  score: number;
}

/** Name of the table in its database. */
export const tableName = 'passages';

// Approximate search finds 31 % of the nearest at ef 50, 58 % at 200 and 88 % at 800, measured at 100,000.
const ann = { ef: 800, refineFactor: 5 };

/**
 * Scores without the noise of float32 sums: LanceDB adds a query's terms in an order that depends on how many
 * rows are asked for, and two passages of the same words must tie.
 */
const steady = (score: number): number => Number(score.toPrecision(6));

/** A table and the connection that holds it. */
export interface OpenedTable {
  connection: Connection;
  table: Table;
}

/** LanceDB's table of passages: words by BM25, vectors by cosine. */
export class PassageTable {
  constructor(
    private readonly modules: LanceModules,
    private readonly opened: OpenedTable,
    private readonly approximate: boolean,
  ) {}

  /** Opens a table for searching; `folder` holds what `PassageTableWriter` made. */
  static async open(folder: string, approximate: boolean): Promise<PassageTable> {
    const modules = await loadLance();
    const connection = await modules.lance.connect(folder);
    try {
      const table = await connection.openTable(tableName);
      return new PassageTable(modules, { connection, table }, approximate);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** The passages that share words with the query, the best of them by BM25. */
  async byWords(query: string, count: number): Promise<Ranked[]> {
    const { MatchQuery } = this.modules.lance;
    return untilTiesEnd(count, async (limit) => {
      const rows = (await this.opened.table
        .query()
        .fullTextSearch(new MatchQuery(query, 'searched'))
        .select(['documentId', 'start', '_score', '_rowid'])
        .limit(limit)
        .toArray()) as Row[];
      return rows.map(({ _score: score = 0, ...row }) => rankedOf(row, score));
    });
  }

  /** The passages whose vectors are nearest, by cosine. */
  async byVector(vector: Float32Array, count: number): Promise<Ranked[]> {
    return untilTiesEnd(count, async (limit) => {
      const base = this.opened.table
        .query()
        .nearestTo(vector)
        .column('vector')
        .distanceType('cosine');
      const nearest = this.approximate
        ? base.ef(Math.max(ann.ef, limit)).refineFactor(ann.refineFactor)
        : base.bypassVectorIndex();
      const rows = (await nearest
        .select(['documentId', 'start', '_distance', '_rowid'])
        .limit(limit)
        .toArray()) as Row[];
      return rows.map(({ _distance: distance = 0, ...row }) => rankedOf(row, 1 - distance));
    });
  }

  /** LanceDB's own reciprocal rank fusion of two lists. @returns scores by row */
  async reciprocalRanks(
    lists: readonly [vector: readonly Ranked[], words: readonly Ranked[]],
    k: number,
  ): Promise<ReadonlyMap<bigint, number>> {
    const { lance, arrow } = this.modules;
    const [vector, words] = lists.map((list) => {
      const ids = arrow.vectorFromArray(
        list.map(({ rowId }) => rowId),
        new arrow.Uint64(),
      );
      return new arrow.Table({ _rowid: ids }).batches[0];
    });
    const reranker = await lance.rerankers.RRFReranker.create(k);
    if (vector === undefined || words === undefined) return new Map();
    const fused = new arrow.Table([await reranker.rerankHybrid('', vector, words)]);
    const rows = fused.toArray() as { _rowid: bigint; _relevance_score: number }[];
    return new Map(rows.map(({ _rowid: id, _relevance_score: score }) => [id, steady(score)]));
  }

  /** Passages by their rows, in the requested order. */
  async take(rowIds: readonly bigint[]): Promise<Passage[]> {
    if (rowIds.length === 0) return [];
    const rows = (await this.opened.table
      .takeRowIds(rowIds)
      .select(['documentId', 'alsoIn', 'title', 'searched', 'url', 'start', 'end', '_rowid'])
      .toArray()) as PassageRow[];
    const byRow = new Map(rows.map(({ _rowid: id, ...row }) => [id, passageOf(row)]));
    return rowIds.map((id) => {
      const passage = byRow.get(id);
      if (passage === undefined) throw new Error(`LanceDB found row ${id} but cannot read it.`);
      return passage;
    });
  }

  async countPassages(): Promise<number> {
    return this.opened.table.countRows();
  }

  close(): void {
    this.opened.table.close();
    this.opened.connection.close();
  }
}

interface Row {
  _rowid: bigint;
  documentId: string;
  start: number;
  _score?: number;
  _distance?: number;
}

interface PassageRow extends Row {
  /** Ids as JSON. */
  alsoIn: string | null;
  title: string;
  searched: string;
  url: string | null;
  end: number;
}

const rankedOf = ({ _rowid: rowId, documentId, start }: Row, score: number): Ranked =>
  Object.assign({ rowId, documentId, start }, { score: steady(score) });

function passageOf(row: Omit<PassageRow, '_rowid'>): Passage {
  const { documentId, alsoIn, title, searched, url, start, end } = row;
  const text = textOf(title, searched);
  const others = alsoIn === null ? undefined : (JSON.parse(alsoIn) as string[]);
  return { documentId, title, text, start, end, url: url ?? undefined, alsoIn: others };
}

/** Best score first, then by document: one order, whatever order rows came in. */
export const byScore = (a: Ranked, b: Ranked): number => b.score - a.score || byDocument(a, b);

/**
 * The best `count` of a list that can only be cut at a length. Rows that tie with the last one are fetched too,
 * or which of them are kept would be the database's choice.
 */
async function untilTiesEnd(
  count: number,
  best: (limit: number) => Promise<Ranked[]>,
): Promise<Ranked[]> {
  for (let limit = count + 8; ; limit *= 4) {
    const rows = (await best(limit)).toSorted(byScore);
    const last = rows.at(-1)?.score ?? 0;
    const kept = rows[count - 1]?.score ?? last;
    if (rows.length < limit || last < kept) return rows.slice(0, count);
  }
}
