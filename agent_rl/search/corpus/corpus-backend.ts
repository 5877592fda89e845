import type {
  Embedder,
  SearchBackend,
  SearchHit,
  SearchRequest,
} from '../../core/services/search.ts';
import { inLance } from './lance.ts';
import { embedderFor, type OpenCorpusOptions } from './open-embedder.ts';
import { type PassageTable, type Ranked, byScore } from './passage-table.ts';
import type { DenseSettings, TaskDocumentsSettings, FusionSettings } from './settings.ts';
import { largest, smallest } from '../../core/long-lists.ts';

/** How a table is asked. */
export type QuerySettings = Pick<
  TaskDocumentsSettings,
  'fusion' | 'candidates' | 'passagesPerDocument'
>;

/** A hit with its place in its document. */
export interface PassageHit extends SearchHit {
  /** UTF-16 code units of the document's text, the end excluded. */
  start: number;
  end: number;
}

const defaultCandidates = 50;

// The constant of Cormack, Clarke and Buettcher 2009, https://doi.org/10.1145/1571941.1572114
const defaultRankConstant = 60;

export interface CorpusBackendParts {
  table: PassageTable;
  /** Absent: words alone are searched. */
  embedder: Embedder | undefined;
  settings: QuerySettings;
  /** Lets go of everything. */
  close(): Promise<void>;
}

/** Searches a table of passages. The same query gives the same hits, whatever else is in flight. */
class CorpusBackend implements SearchBackend {
  #closing: Promise<void> | undefined;
  readonly #inFlight = new Set<Promise<unknown>>();

  constructor(private readonly parts: CorpusBackendParts) {}

  /** @throws AgentRlError `EMBEDDING_FAILED`; the signal's reason when it is aborted */
  async search({ query, topK, signal }: SearchRequest): Promise<readonly PassageHit[]> {
    if (this.#closing !== undefined)
      throw new Error('The corpus was searched after it was closed.');
    signal?.throwIfAborted();
    const { embedder } = this.parts;
    if (query.trim() === '' || topK < 1) return [];
    const [vector] = embedder === undefined ? [] : await embedder.embed([query], 'query', signal);
    return inLance(() => this.#tracked(this.#find(query, vector, topK)), signal);
  }

  /** Waits for LanceDB to be done with what is in flight. */
  async close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#inFlight).then(() => this.parts.close());
    return this.#closing;
  }

  async #tracked<Result>(work: Promise<Result>): Promise<Result> {
    this.#inFlight.add(work);
    return work.finally(() => this.#inFlight.delete(work));
  }

  async #find(
    query: string,
    vector: Float32Array | undefined,
    topK: number,
  ): Promise<readonly PassageHit[]> {
    const { table, settings } = this.parts;
    const count = Math.max(settings.candidates ?? defaultCandidates, topK);
    const text = await table.byWords(query, count);
    const ranked =
      vector === undefined
        ? text
        : await this.#fused({ text, dense: await table.byVector(vector, count) });
    const kept = atMostPerDocument(ranked, settings.passagesPerDocument).slice(0, topK);
    const passages = await table.take(kept.map(({ rowId }) => rowId));
    return passages.map((passage, index) =>
      Object.assign(passage, { score: kept[index]?.score ?? 0 }),
    );
  }

  async #fused(lists: TwoLists): Promise<readonly Ranked[]> {
    const { table, settings } = this.parts;
    const { fusion = { type: 'reciprocal_rank' } } = settings;
    const fused =
      fusion.type === 'weighted'
        ? weightedFusion(lists, fusion)
        : await table.reciprocalRanks([lists.dense, lists.text], fusion.k ?? defaultRankConstant);
    return inFusedOrder(lists, fused);
  }
}

/** A backend over the table that `open` gives, with the embedder that the settings name. Closes both. */
export async function openBackend(
  settings: QuerySettings & { dense?: DenseSettings },
  options: OpenCorpusOptions,
  open: (embedder: Embedder | undefined) => Promise<PassageTable>,
): Promise<SearchBackend> {
  const held = await embedderFor(settings.dense, options);
  const { embedder } = held;
  try {
    const table = await open(embedder);
    const close = async (): Promise<void> => {
      table.close();
      await held.release();
    };
    return new CorpusBackend({ table, settings, close, embedder });
  } catch (error) {
    await held.release();
    throw error;
  }
}

function atMostPerDocument(ranked: readonly Ranked[], most: number | undefined): readonly Ranked[] {
  if (most === undefined) return ranked;
  const seen = new Map<string, number>();
  return ranked.filter(({ documentId }) => {
    const before = seen.get(documentId) ?? 0;
    seen.set(documentId, before + 1);
    return before < most;
  });
}

type WeightedFusion = Extract<FusionSettings, { type: 'weighted' }>;

/** Two lists of the same passages, each best first. */
interface TwoLists {
  dense: readonly Ranked[];
  text: readonly Ranked[];
}

/** A list's scores brought to [0, 1], the worst of it 0 and the best 1; 1 for all when they are equal. */
function scaledScores(list: readonly Ranked[]): number[] {
  const scores = list.map(({ score }) => score);
  const low = smallest(scores);
  const width = largest(scores) - low;
  return scores.map((score) => (width > 0 ? (score - low) / width : 1));
}

const reciprocalRanks = (list: readonly Ranked[]): number[] =>
  list.map((_, rank) => 1 / (rank + 1));

/**
 * Weighted sum over both lists: of 1 / rank, the best of a list having rank 1, or of scores brought to [0, 1].
 * What a list does not hold gets nothing from it.
 */
export function weightedFusion(
  { dense, text }: TwoLists,
  { denseWeight, textWeight, of = 'ranks' }: Omit<WeightedFusion, 'type'>,
): ReadonlyMap<bigint, number> {
  const parts = of === 'ranks' ? reciprocalRanks : scaledScores;
  const sums = new Map<bigint, number>();
  for (const [list, weight] of [
    [dense, denseWeight],
    [text, textWeight],
  ] as const) {
    for (const [index, value] of parts(list).entries()) {
      const { rowId } = list[index] as Ranked;
      sums.set(rowId, (sums.get(rowId) ?? 0) + weight * value);
    }
  }
  return sums;
}

/** Everything in either list with its fused score, best first; ties by document. */
export function inFusedOrder(
  { dense, text }: TwoLists,
  fused: ReadonlyMap<bigint, number>,
): readonly Ranked[] {
  const rows = new Map([...text, ...dense].map((row) => [row.rowId, row]));
  return [...rows.values()]
    .map((row) => Object.assign({}, row, { score: fused.get(row.rowId) ?? 0 }))
    .toSorted(byScore);
}
