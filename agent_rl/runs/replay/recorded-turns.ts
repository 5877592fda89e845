import { isSystemFailure } from '../../core/outcome.ts';
import { onlyAgent } from '../../core/rollout.ts';
import type { Generation, GenerationRequest, RandomKey } from '../../core/services/generator.ts';
import type { Span } from '../../core/transcript.ts';
import { type EpisodeRecord, episodesOf, runWithEpisodes } from '../episodes/read-episodes.ts';

/** A sequence of an agent's part, as it was played. */
interface PlayedSequence {
  tokens: Int32Array;
  logProbs: Float64Array;
  sampled: readonly Span[];
  /** Whether the system failed in it. */
  failed: boolean;
}

/** What was drawn, or why there is nothing. */
export type Found =
  | { turn: Generation }
  | { turn?: never; why: 'other-episode' | 'other-context' | 'failed' | 'not-sampled' };

/** Every sampled token of a run, by what was asked when it was drawn. */
export class RecordedTurns {
  readonly #sequences = new Map<string, PlayedSequence[]>();

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is not a run, `DATASET_INVALID` for a line that cannot be read */
  static async read(run: string): Promise<RecordedTurns> {
    const folder = runWithEpisodes(run);
    const turns = new RecordedTurns();
    for (const file of ['train', 'eval'] as const)
      for await (const parts of episodesOf(folder, { file, unfinished: true }))
        for (const { episode } of parts) turns.#add(episode);
    return turns;
  }

  /** What was sampled right after the tokens of a request, by weights of a version; by any where it is absent. */
  find(request: GenerationRequest, version: number | undefined): Found {
    const { key, tokens, maxTokens, stopTokens } = request;
    const played = this.#sequences.get(nameOf(key));
    if (played === undefined) return { why: 'other-episode' };
    const begun = played.filter((one) => beginsWith(one.tokens, tokens));
    // Where a tool failed, the record ends before what this time it answers.
    const isBeyond = played.some((one) => one.failed && beginsWith(tokens, one.tokens));
    const at = tokens.length;
    for (const { tokens: all, logProbs, sampled } of begun) {
      const span = sampled.find(({ start, end }) => start <= at && at < end);
      if (span === undefined || (version ?? span.version) !== span.version) continue;
      const end = Math.min(span.end, at + maxTokens);
      const drawn = Array.from(all.subarray(at, end));
      const stop = stopTokens.includes(drawn.at(-1) ?? -1)
        ? 'stop-token'
        : drawn.length === maxTokens
          ? 'max-tokens'
          : 'context-full';
      const drawnLogProbs = Array.from(logProbs.subarray(at, end));
      return { turn: { tokens: drawn, logProbs: drawnLogProbs, stop, version: span.version ?? 0 } };
    }
    if (isBeyond) return { why: 'failed' };
    return { why: begun.length === 0 ? 'other-context' : 'not-sampled' };
  }

  #add(episode: EpisodeRecord): void {
    const name = nameOf(episode);
    const known = this.#sequences.get(name) ?? [];
    this.#sequences.set(name, known);
    for (const { tokens, logProbs, spans } of episode.sequences)
      known.push({
        tokens: Int32Array.from(tokens),
        logProbs: Float64Array.from(logProbs),
        sampled: spans.filter(({ source }) => source === 'sampled'),
        failed: isSystemFailure(episode.outcome),
      });
  }
}

/** What draws are keyed by besides the turn; a request does not name the only agent of its episode. */
const nameOf = ({
  seed,
  taskId,
  sample,
  agent = onlyAgent,
}: Pick<RandomKey, 'seed' | 'taskId' | 'sample' | 'agent'>): string =>
  JSON.stringify([seed, taskId, sample, agent]);

const beginsWith = (all: ArrayLike<number>, tokens: ArrayLike<number>): boolean => {
  for (let at = 0; at < tokens.length; at++) if (tokens[at] !== all[at]) return false;
  return tokens.length <= all.length;
};
