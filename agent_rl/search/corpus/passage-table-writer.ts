import { loadLance, type LanceModules } from './lance.ts';
import { indexedText, type Passage } from './passage.ts';
import { type OpenedTable, PassageTable, tableName } from './passage-table.ts';
import type { TextSettings } from './settings.ts';

/** How a table is made. */
export interface TableOptions {
  text: TextSettings;
  /** Width of the vectors; 0 without vectors. */
  dimensions: number;
  /** From this number of passages, vectors have an approximate index; below, every vector is compared. */
  annFrom: number;
}

/** Writes passages to a table, then builds its indexes. */
export class PassageTableWriter {
  #passages = 0;

  private constructor(
    private readonly modules: LanceModules,
    private readonly opened: OpenedTable,
    private readonly options: TableOptions,
  ) {}

  /**
   * A table with its indexes, of the passages that `fill` adds. One that fails is discarded.
   *
   * @param uri a folder, or `memory://` for a table that lives as long as its connection and is shared with no other
   */
  static async write<Filled>(
    uri: string,
    options: TableOptions,
    fill: (writer: PassageTableWriter) => Promise<Filled>,
  ): Promise<{ table: PassageTable; approximate: boolean; filled: Filled }> {
    const modules = await loadLance();
    const connection = await modules.lance.connect(uri);
    const empty = arrowTable(modules, [], { vectors: [], dimensions: options.dimensions });
    const table = await connection.createEmptyTable(tableName, empty.schema);
    const writer = new PassageTableWriter(modules, { connection, table }, options);
    try {
      const filled = await fill(writer);
      return { ...(await writer.#finish()), filled };
    } catch (error) {
      table.close();
      connection.close();
      throw error;
    }
  }

  async add(passages: readonly Passage[], vectors: readonly Float32Array[]): Promise<void> {
    if (passages.length === 0) return;
    const { dimensions } = this.options;
    await this.opened.table.add(arrowTable(this.modules, passages, { vectors, dimensions }));
    this.#passages += passages.length;
  }

  async #finish(): Promise<{ table: PassageTable; approximate: boolean }> {
    const { Index } = this.modules.lance;
    const { text, dimensions, annFrom } = this.options;
    await this.opened.table.createIndex('searched', {
      config: Index.fts({
        withPosition: false,
        baseTokenizer: text.tokenizer ?? 'simple',
        language: text.language ?? 'English',
        stem: text.stem ?? true,
        removeStopWords: text.removeStopWords ?? true,
        lowercase: true,
        asciiFolding: true,
      }),
    });
    const rows = await this.opened.table.countRows();
    if (rows !== this.#passages) {
      throw new Error(`LanceDB stored only ${rows} of ${this.#passages} passages.`);
    }
    const approximate = dimensions > 0 && this.#passages >= annFrom;
    if (approximate) {
      await this.opened.table.createIndex('vector', {
        config: Index.hnswSq({ distanceType: 'cosine' }),
      });
    }
    return { table: new PassageTable(this.modules, this.opened, approximate), approximate };
  }
}

/** Passages as columns. `searched` holds the text too: it is not stored twice. */
function arrowTable(
  { arrow }: LanceModules,
  passages: readonly Passage[],
  { vectors, dimensions }: { vectors: readonly Float32Array[]; dimensions: number },
) {
  const texts = (of: (passage: Passage) => string | null) =>
    arrow.vectorFromArray(passages.map(of), new arrow.Utf8());
  const integers = (of: (passage: Passage) => number) =>
    arrow.vectorFromArray(passages.map(of), new arrow.Int32());
  const columns = {
    documentId: texts(({ documentId }) => documentId),
    alsoIn: texts(({ alsoIn }) => (alsoIn === undefined ? null : JSON.stringify(alsoIn))),
    title: texts(({ title }) => title),
    searched: texts(indexedText),
    url: texts(({ url }) => url ?? null),
    start: integers(({ start }) => start),
    end: integers(({ end }) => end),
  };
  if (dimensions === 0) return new arrow.Table(columns);
  const values = new Float32Array(passages.length * dimensions);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * dimensions);
  const type = new arrow.FixedSizeList(
    dimensions,
    new arrow.Field('item', new arrow.Float32(), true),
  );
  const child = arrow.makeData({ type: new arrow.Float32(), data: values });
  const data = arrow.makeData({ type, length: passages.length, nullCount: 0, child });
  return new arrow.Table({ ...columns, vector: arrow.makeVector(data) });
}
