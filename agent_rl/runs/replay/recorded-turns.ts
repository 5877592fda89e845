import { isSystemFailure } from '../../core/outcome.ts';
import type { Generation, GenerationRequest } from '../../core/services/generator.ts';
import type { Span } from '../../core/transcript.ts';
import { type EpisodeRecord, readEpisodes, runWithEpisodes } from '../episodes/read-episodes.ts';

/** An agent's part in an episode, as it was played. */
interface PlayedPart {
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
  readonly #parts = new Map<string, PlayedPart[]>();

  /** @throws AgentRlError `CHECKPOINT_INVALID` for what is no run, `DATASET_INVALID` for a line that cannot be read */
  static async read(run: string): Promise<RecordedTurns> {
    const folder = runWithEpisodes(run);
    const turns = new RecordedTurns();
    for (const file of ['train', 'eval'] as const)
      for await (const episode of readEpisodes(folder, file)) turns.#add(episode);
    return turns;
  }

  /** What was sampled right after the tokens of a request, by weights of a version; by any where it is absent. */
  find(request: GenerationRequest, version: number | undefined): Found {
    const { key, tokens, maxTokens, stopTokens } = request;
    const parts = this.#parts.get(nameOf(key));
    if (parts === undefined) return { why: 'other-episode' };
    const begun = parts.filter((part) => beginsWith(part.tokens, tokens));
    // Where a tool failed, the record ends before what this time it answers.
    const isBeyond = parts.some((part) => part.failed && beginsWith(tokens, part.tokens));
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
    const { tokens, logProbs, spans, outcome } = episode;
    const name = nameOf(episode);
    const part = {
      tokens: Int32Array.from(tokens),
      logProbs: Float64Array.from(logProbs),
      sampled: spans.filter(({ source }) => source === 'sampled'),
      failed: isSystemFailure(outcome),
    };
    const known = this.#parts.get(name);
    if (known === undefined) this.#parts.set(name, [part]);
    else known.push(part);
  }
}

const nameOf = ({
  seed,
  taskId,
  sample,
  agent,
}: Pick<EpisodeRecord, 'seed' | 'taskId' | 'sample' | 'agent'>): string =>
  JSON.stringify([seed ?? null, taskId, sample, agent ?? null]);

const beginsWith = (all: ArrayLike<number>, tokens: ArrayLike<number>): boolean => {
  for (let at = 0; at < tokens.length; at++) if (tokens[at] !== all[at]) return false;
  return tokens.length <= all.length;
};
