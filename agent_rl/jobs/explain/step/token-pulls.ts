import { largest } from '../../../core/long-lists.ts';
import { maskOf } from '../../../core/transcript.ts';
import type { TrainedEpisode } from '../../../runs/episodes/read-trained-episodes.ts';
import { episodeId } from '../../../runs/episodes/episode-id.ts';
import { columnAt } from './gradient-shares.ts';

/** One sampled token of an episode and what the update does to it. */
export interface TokenPull {
  token: number;
  /** Advantage x weight x (1 - p): how its logit is pushed. A token that was certain cannot be made likelier. */
  pull: number;
  /** Its probability under the learner. */
  probability: number;
  episode: string;
  /** The tokens around it, itself among them at `at`. */
  context: readonly number[];
  at: number;
}

/** A token of the vocabulary, over all places where it was sampled. */
export interface TokenSum {
  token: number;
  count: number;
  pull: number;
}

export interface TokenPulls {
  /** Sum of the sizes of all pulls. */
  size: number;
  /** By token, the largest first: those made likelier, and those made less likely. */
  up: readonly TokenSum[];
  down: readonly TokenSum[];
  /** The single places that are pulled most. */
  strongest: readonly TokenPull[];
}

const before = 6;
const after = 3;

/** What an update with the plain policy gradient does to which tokens. Clipping and KL are left out. */
export function tokenPulls(episodes: readonly TrainedEpisode[], most: number): TokenPulls {
  const sums = new Map<number, TokenSum>();
  let size = 0;
  let strongest: TokenPull[] = [];
  for (const trained of episodes) {
    const own = pullsIn(trained);
    for (const { token, pull } of own) {
      const sum = sums.get(token) ?? { token, count: 0, pull: 0 };
      sums.set(token, { token, count: sum.count + 1, pull: sum.pull + pull });
      size += Math.abs(pull);
    }
    strongest = [...strongest, ...own]
      .toSorted((a, b) => Math.abs(b.pull) - Math.abs(a.pull))
      .slice(0, most);
  }
  const sorted = [...sums.values()].toSorted((a, b) => b.pull - a.pull);
  return {
    size,
    up: sorted.filter(({ pull }) => pull > 0).slice(0, most),
    down: sorted
      .filter(({ pull }) => pull < 0)
      .toReversed()
      .slice(0, most),
    strongest,
  };
}

function pullsIn({ episode, learned }: TrainedEpisode): TokenPull[] {
  const sent = learned?.sent;
  if (sent === undefined) return [];
  const { tokens } = episode;
  const mask = maskOf({ tokens, spans: episode.spans }, 'sampled');
  const places = tokens.flatMap((_, place) => (mask[place] === 1 ? [place] : []));
  return places.map((place, index) => {
    const probability = Math.exp(columnAt(sent.logProbs, index));
    const start = largest([place - before], 0);
    return {
      token: tokens[place] ?? 0,
      pull: columnAt(sent.advantages, index) * columnAt(sent.weights, index) * (1 - probability),
      probability,
      episode: episodeId(episode),
      context: tokens.slice(start, place + after + 1),
      at: place - start,
    };
  });
}
