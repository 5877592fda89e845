import type { EpisodeRecord } from './read-episodes.ts';

/**
 * What an episode is called on the command line: `3/sum-17/2` is attempt 2 at sum-17 in iteration 3, and
 * `3/sum-17/2/guesser` one agent's part in it.
 */
export const episodeId = (
  record: Pick<EpisodeRecord, 'iteration' | 'taskId' | 'sample' | 'agent'>,
): string => [wholeEpisodeId(record), record.agent ?? []].flat().join('/');

/** That of the episode with all its agents. */
export const wholeEpisodeId = ({
  iteration,
  taskId,
  sample,
}: Pick<EpisodeRecord, 'iteration' | 'taskId' | 'sample'>): string =>
  `${iteration}/${taskId}/${sample}`;

/** Number of tokens the policy sampled. */
export const sampledTokens = ({ spans }: Pick<EpisodeRecord, 'spans'>): number =>
  spans.reduce((sum, { source, start, end }) => sum + (source === 'sampled' ? end - start : 0), 0);
