import { drawnMasks, type TranscriptRecord } from '../../../core/transcript.ts';
import type { LearnedRecord } from '../../episodes/learned-record.ts';
import { playedTurns, requestLine } from '../../query/played-turns.ts';
import { useMeanings } from '../../query/use-meanings.ts';
import type { Cut, EpisodeTokens, EpisodeWhole } from '../api.ts';
import type { EpisodeIndex } from '../index/episode-index.ts';
import type { IndexedEpisode } from '../index/episode-row.ts';
import { learnedColumns } from './learned-columns.ts';
import { siblingsOf } from './siblings.ts';
import type { LazyTokenTexts } from './token-texts.ts';

export interface WholeRequest {
  run: string;
  index: EpisodeIndex;
  texts: LazyTokenTexts;
  /** Very long texts are not cut. */
  uncut: boolean;
}

/** Reads one episode with all that is recorded of it, and how its group differs from it. */
export async function episodeWhole(
  episode: IndexedEpisode,
  { run, index, texts, uncut }: WholeRequest,
): Promise<EpisodeWhole> {
  const { row } = episode;
  const { record: whole, learned, seq } = await index.read(episode);
  const { sequences, ...others } = whole;
  const record = { ...others, seconds: { ...others.seconds } };
  const cut: Cut[] = [];
  const turns = playedTurns({ ...record, sequences }, learned);
  return {
    run,
    row,
    place: `journal, event ${seq}`,
    record: uncut ? record : cutTexts(record, '', cut),
    sequences: await tokensOf(sequences, learned, texts),
    turns,
    shown: turns.find(({ turn }) => turn === record.requests?.answer)?.sequence ?? 0,
    requests: requestLine({ ...record, sequences }) ?? null,
    learned:
      learned === undefined
        ? null
        : {
            use: learned.use,
            meaning: useMeanings[learned.use] ?? learned.use,
            advantage: learned.advantage,
          },
    siblings: await siblingsOf(episode, sequences[0]?.tokens ?? [], index),
    ...index.neighbours(episode),
    cut,
  };
}

async function tokensOf(
  sequences: readonly TranscriptRecord[],
  learned: LearnedRecord | undefined,
  lazy: LazyTokenTexts,
): Promise<EpisodeTokens[]> {
  const { texts, problem } = await lazy.open();
  const masks = drawnMasks(sequences);
  return sequences.map(({ tokens, spans, logProbs }, index) => {
    const sampled: (number | null)[] = tokens.map(() => null);
    for (const { source, start, end } of spans)
      if (source === 'sampled')
        for (let at = start; at < end; at++) sampled[at] = logProbs[at] ?? null;
    const sent = learned?.sent[index] ?? null;
    return {
      ids: tokens,
      texts: texts === null ? null : tokens.map((id) => texts.of(id)),
      problem,
      spans,
      logProbs: sampled,
      learned: sent && learnedColumns(sent, masks[index] ?? [], sampled),
    };
  });
}

/** Enough to read, and little enough for a page to show. */
const mostCharacters = 100_000;

/** A copy of plain data whose very long texts are cut. @param cuts gets where */
function cutTexts<Value>(value: Value, path: string, cuts: Cut[]): Value {
  return cutAt(value, path, cuts) as Value;
}

function cutAt(value: unknown, path: string, cuts: Cut[]): unknown {
  if (typeof value === 'string') {
    if (value.length <= mostCharacters) return value;
    cuts.push({ path, characters: value.length, shown: mostCharacters });
    return value.slice(0, mostCharacters);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part, at) => cutAt(part, `${path}[${at}]`, cuts));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      cutAt(part, path === '' ? key : `${path}.${key}`, cuts),
    ]),
  );
}
