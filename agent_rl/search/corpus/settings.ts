import { type Static, Type } from 'typebox';

import { integer, most, number, optionalText, text, within } from '../../config/blocks/block.ts';

const prefix = (description: string) => Type.Optional(Type.String({ description }));

const TransformersDense = Type.Object({
  type: Type.Literal('transformers'),
  model: text('Folder with config.json, tokenizer.json and onnx/, or a name on the hub', {
    minLength: 1,
  }),
  source: Type.Optional(
    Type.Enum(['folder', 'hub'], {
      description: 'Where the model is; folder by default, and then nothing is downloaded',
    }),
  ),
  revision: Type.Optional(Type.String({ description: 'Branch or commit on the hub' })),
  dtype: Type.Optional(
    Type.Enum(['fp32', 'fp16', 'q8'], { description: 'Which weights; fp32 by default' }),
  ),
  pooling: Type.Optional(
    Type.Enum(['mean', 'cls', 'last_token'], {
      description: 'How token vectors become one; mean by default',
    }),
  ),
  queryPrefix: prefix('Put before each text; "query: " by default, as E5 wants it'),
  passagePrefix: prefix('Put before each text; "passage: " by default, as E5 wants it'),
});

const OpenAiDense = Type.Object({
  type: Type.Literal('openai'),
  baseUrl: text('Server with POST /embeddings below it, http://localhost:8000/v1 for one', {
    pattern: '^https?://',
  }),
  model: text('Name of the model on the server', { minLength: 1 }),
  apiKeyEnv: optionalText('Environment variable that holds the key'),
  dimensions: Type.Optional(
    integer('Width to request, where the server offers several', within(1, 65_536)),
  ),
  queryPrefix: prefix('Put before each query; nothing by default'),
  passagePrefix: prefix('Put before each passage; nothing by default'),
  timeoutS: Type.Optional(number('Seconds a request may take; 60 by default', within(0.01, 3600))),
  maxRetries: Type.Optional(
    integer('More tries after 429, 5xx and network errors; 3 by default', within(0, 10)),
  ),
});

/** `dense:` what makes vectors of texts. `none` searches words alone and needs no model. */
export const DenseSettings = Type.Union([Type.Literal('none'), TransformersDense, OpenAiDense], {
  description: 'What makes vectors of texts; none searches by words alone (BM25)',
});
export type DenseSettings = Static<typeof DenseSettings>;
export type TransformersSettings = Static<typeof TransformersDense>;
export type OpenAiSettings = Static<typeof OpenAiDense>;

/** `fusion:` how the list of words and the list of vectors become one. */
export const FusionSettings = Type.Union(
  [
    Type.Object({
      type: Type.Literal('reciprocal_rank'),
      k: Type.Optional(number('Constant beside the rank; 60 by default', within(1, most.count))),
    }),
    Type.Object({
      type: Type.Literal('weighted'),
      of: Type.Optional(
        Type.Enum(['ranks', 'scores'], {
          description:
            'What is weighed: 1 / rank, or scores brought to [0, 1] in each list; ranks by default',
        }),
      ),
      denseWeight: number('Weight of the list by vectors', within(0, most.count)),
      textWeight: number('Weight of the list by words', within(0, most.count)),
    }),
  ],
  { description: 'How the lists by words and by vectors become one; reciprocal_rank by default' },
);
export type FusionSettings = Static<typeof FusionSettings>;

const queryProperties = {
  dense: Type.Optional(DenseSettings),
  fusion: Type.Optional(FusionSettings),
  candidates: Type.Optional(
    integer(
      'Passages taken from each list before fusion; 50 by default, never below topK',
      within(1, 1000),
    ),
  ),
  passagesPerDocument: Type.Optional(
    integer(
      'Most hits of one document, its best ones; as many as match by default',
      within(1, 1000),
    ),
  ),
};

/** Where a built index is and how it is asked. */
export const CorpusSettings = Type.Object({
  path: text('Folder that `agent-rl data index` made', { minLength: 1, path: 'file' }),
  documents: Type.Optional(
    text(
      'What the index is built from while the folder is not there, as `agent-rl data index` takes it; a folder that is there is never changed',
      { path: 'file', minLength: 1 },
    ),
  ),
  ...queryProperties,
});
export type CorpusSettings = Static<typeof CorpusSettings>;

/** `chunking:` how long documents are cut into passages. */
export const ChunkingSettings = Type.Object({
  tokens: Type.Optional(
    integer('Most tokens of a passage; 256 by default', within(8, most.tokens)),
  ),
  overlap: Type.Optional(
    integer('Tokens two neighbours share; 0 by default', within(0, most.tokens)),
  ),
  tokenizer: optionalText(
    'Folder with tokenizer.json that counts tokens; words are counted by default',
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
    Type.Enum([...languages], { description: 'Of stems and stop words; English by default' }),
  ),
  stem: Type.Optional(Type.Boolean({ description: 'Words by their stems; true by default' })),
  removeStopWords: Type.Optional(
    Type.Boolean({ description: 'Leave out words such as "the"; true by default' }),
  ),
  tokenizer: Type.Optional(
    Type.Enum(['simple', 'whitespace', 'ngram'], {
      description: 'What a word is; simple by default, ngram for scripts without spaces',
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
      'From so many passages on vectors get an approximate index (HNSW); below, all are compared; 100000 by default',
      within(1, 1e9),
    ),
  ),
});
export type BuildSettings = Static<typeof BuildSettings>;
