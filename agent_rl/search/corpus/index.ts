export type { Embedder, EmbedderIdentity, TextRole } from './embedder.ts';
export { openCorpusBackend, type OpenCorpusOptions } from './open-corpus.ts';
export { openEmbedder } from './open-embedder.ts';
export { openTaskDocuments } from './open-task-documents.ts';
export {
  ChunkingSettings,
  CorpusSettings,
  DenseSettings,
  FusionSettings,
  TaskDocumentsSettings,
  TextSettings,
} from './settings.ts';
