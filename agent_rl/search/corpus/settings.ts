import { type Static, Type } from '../../core/typebox.ts';
import { integer, most, number, optionalText, text, within } from '../../config/blocks/block.ts';

const prefix = (description: string) => Type.Optional(Type.String({ description }));

const TransformersDense = Type.Object({
  type: Type.Literal('transformers'),
  model: text('Folder with config.json, tokenizer.json and onnx/, or a name on the hub', {
    minLength: 1,
  }),
  source: Type.Optional(
    Type.Enum(['folder', 'hub'], {
      description: 'Where the model comes from; by default folder, which downloads nothing',
    }),
  ),
  revision: Type.Optional(Type.String({ description: 'Branch or commit on the hub' })),
  dtype: Type.Optional(
    Type.Enum(['fp32', 'fp16', 'q8'], { description: 'Precision of the weights; fp32 by default' }),
  ),
  pooling: Type.Optional(
    Type.Enum(['mean', 'cls', 'last_token'], {
      description: 'How token vectors are combined into one; mean by default',
    }),
  ),
  queryPrefix: prefix('Prefix of each query; "query: " by default, as E5 expects'),
  passagePrefix: prefix('Prefix of each passage; "passage: " by default, as E5 expects'),
});

const OpenAiDense = Type.Object({
  type: Type.Literal('openai'),
  baseUrl: text('Base URL of a server with POST /embeddings, such as http://localhost:8000/v1', {
    pattern: '^https?://',
  }),
  model: text('Name of the model on the server', { minLength: 1 }),
  apiKeyEnv: optionalText('Environment variable that holds the key'),
  dimensions: Type.Optional(
    integer('Vector width to request, if the server offers several', within(1, 65_536)),
  ),
  queryPrefix: prefix('Prefix of each query; empty by default'),
  passagePrefix: prefix('Prefix of each passage; empty by default'),
  timeoutS: Type.Optional(number('Seconds a request may take; 60 by default', within(0.01, 3600))),
  maxRetries: Type.Optional(
    integer('Retries after 429, 5xx and network errors; 3 by default', within(0, 10)),
  ),
});

/** `dense:` what makes vectors of texts. `none` searches by words only and needs no model. */
export const DenseSettings = Type.Union([Type.Literal('none'), TransformersDense, OpenAiDense], {
  description: 'Embedder that turns texts into vectors; none searches by words only (BM25)',
});
export type DenseSettings = Static<typeof DenseSettings>;
export type TransformersSettings = Static<typeof TransformersDense>;
export type OpenAiSettings = Static<typeof OpenAiDense>;

/** `fusion:` how the list of words and the list of vectors become one. */
export const FusionSettings = Type.Union(
  [
    Type.Object({
      type: Type.Literal('reciprocal_rank'),
      k: Type.Optional(number('Constant added to the rank; 60 by default', within(1, most.count))),
    }),
    Type.Object({
      type: Type.Literal('weighted'),
      of: Type.Optional(
        Type.Enum(['ranks', 'scores'], {
          description:
            'How a hit counts when lists of results are merged; the value is multiplied by the weight of its list. ranks (the default): 1 / its rank. scores: its score, scaled to [0, 1] within its list',
        }),
      ),
      denseWeight: number('Weight of the vector search', within(0, most.count)),
      textWeight: number('Weight of the word search', within(0, most.count)),
    }),
  ],
  {
    description:
      'How the results of word search and vector search are merged; reciprocal_rank by default',
  },
);
export type FusionSettings = Static<typeof FusionSettings>;

const queryProperties = {
  dense: Type.Optional(DenseSettings),
  fusion: Type.Optional(FusionSettings),
  candidates: Type.Optional(
    integer(
      'Passages taken from each list before fusion; 50 by default, and always at least topK',
      within(1, 1000),
    ),
  ),
  passagesPerDocument: Type.Optional(
    integer(
      'Maximum hits per document, of which the best are kept; no limit by default',
      within(1, 1000),
    ),
  ),
};

/** Where a built index is and how it is searched. */
export const CorpusSettings = Type.Object({
  path: text('Folder created by `agent-rl data index`', { minLength: 1, path: 'file' }),
  documents: Type.Optional(
    text(
      'Documents to build the index from if its folder does not exist, in a format that `agent-rl data index` accepts; an existing folder never changes',
      { path: 'file', minLength: 1 },
    ),
  ),
  ...queryProperties,
});
export type CorpusSettings = Static<typeof CorpusSettings>;

/** `chunking:` how long documents are cut into passages. */
export const ChunkingSettings = Type.Object({
  tokens: Type.Optional(
    integer('Maximum tokens of a passage; 256 by default', within(8, most.tokens)),
  ),
  overlap: Type.Optional(
    integer('Tokens that neighbouring passages share; 0 by default', within(0, most.tokens)),
  ),
  tokenizer: optionalText(
    'Folder with the tokenizer.json used to count tokens; by default words are counted',
  ),
});
export type ChunkingSettings = Static<typeof ChunkingSettings>;

// Another name ends the process: LanceDB's native part panics.
const languages = [
  'Arabic',
  'Danish',
  'Dutch',
  'English',
  'Finnish',
  'French',
  'German',
  'Greek',
  'Hungarian',
  'Italian',
  'Norwegian',
  'Portuguese',
  'Romanian',
  'Russian',
  'Spanish',
  'Swedish',
  'Tamil',
  'Turkish',
] as const;

/** `text:` how words are made comparable. */
export const TextSettings = Type.Object({
  language: Type.Optional(
    Type.Enum([...languages], {
      description: 'Language of stems and stop words; English by default',
    }),
  ),
  stem: Type.Optional(
    Type.Boolean({ description: 'Whether words are matched by their stems; true by default' }),
  ),
  removeStopWords: Type.Optional(
    Type.Boolean({ description: 'Whether words such as "the" are left out; true by default' }),
  ),
  tokenizer: Type.Optional(
    Type.Enum(['simple', 'whitespace', 'ngram'], {
      description:
        'How text is split into words; simple by default, ngram for scripts without spaces',
    }),
  ),
});
export type TextSettings = Static<typeof TextSettings>;

/** How the documents of one task are searched. */
export const TaskDocumentsSettings = Type.Object({
  ...queryProperties,
  chunking: Type.Optional(ChunkingSettings),
  text: Type.Optional(TextSettings),
});
export type TaskDocumentsSettings = Static<typeof TaskDocumentsSettings>;

/** How an index is built. */
export const BuildSettings = Type.Object({
  dense: Type.Optional(DenseSettings),
  chunking: Type.Optional(ChunkingSettings),
  text: Type.Optional(TextSettings),
  annFrom: Type.Optional(
    integer(
      'A corpus with at least this many passages gets an approximate vector index (HNSW); in a smaller one, a search compares all vectors; 100000 by default',
      within(1, 1e9),
    ),
  ),
});
export type BuildSettings = Static<typeof BuildSettings>;
