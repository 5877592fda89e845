export {
  buildCorpus,
  type BuildCorpusOptions,
  type CorpusBuild,
  type CorpusItem,
  type CorpusSource,
} from './build-corpus.ts';
export type { PassageHit } from './corpus-backend.ts';
export { openCorpusBackend, type OpenCorpusOptions } from './open-corpus.ts';
export { openEmbedder } from './open-embedder.ts';
export { openTaskDocuments } from './open-task-documents.ts';
export {
  BuildSettings,
  ChunkingSettings,
  CorpusSettings,
  DenseSettings,
  FusionSettings,
  TaskDocumentsSettings,
  TextSettings,
} from './settings.ts';
