export {
  buildCorpus,
  type BuildCorpusOptions,
  type CorpusBuild,
  type CorpusItem,
  type CorpusSource,
} from './build-corpus.ts';
export { settingsProblem } from './check-settings.ts';
export { openCorpusBackend } from './open-corpus.ts';
export { openEmbedder } from './open-embedder.ts';
export { openTaskDocuments } from './open-task-documents.ts';
export { BuildSettings, CorpusSettings, TaskDocumentsSettings } from './settings.ts';
export type { Passage } from './passage.ts';
