import { Unreadable } from '../../episodes/unreadable.ts';
import type { EpisodeSet } from '../api.ts';
import type { IndexedEpisode } from './episode-row.ts';
import { type FileMark, nothingRead } from './indexed-file.ts';

export const indexedFiles = ['train', 'eval', 'learned'] as const;
/** Of `trajectories/`, without its ending. */
export type IndexedFile = (typeof indexedFiles)[number];

/** All that was read of a run's records. */
export interface IndexContents {
  marks: Record<IndexedFile, FileMark>;
  episodes: Record<EpisodeSet, IndexedEpisode[]>;
  unreadable: Unreadable;
}

export const emptyIndex = (): IndexContents => ({
  marks: { train: nothingRead, eval: nothingRead, learned: nothingRead },
  episodes: { train: [], eval: [] },
  unreadable: new Unreadable(),
});
