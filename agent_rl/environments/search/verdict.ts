import type { EpisodeEnd, Verdict } from '../../core/plugins/environment.ts';
import { verdict } from '../../core/plugins/verdict.ts';
import type { SearchSettings } from './settings.ts';

/** One search of the episode. */
export interface SearchRecord {
  query: string;
  status: 'ok' | 'error' | 'timeout';
  /** Of the hits, best first. */
  documentIds: readonly string[];
  /** The query contains the answer, which neither the question nor a result had shown. */
  quotedAnswer: boolean;
  /** The same query was searched before. */
  repeated: boolean;
  /** A hit contains the answer. */
  foundAnswer: boolean;
}

/** The result of an episode, before it becomes numbers. */
export interface SearchEpisode {
  end: EpisodeEnd;
  searches: readonly SearchRecord[];
  /** The final message, once the policy replied without a call. */
  answer: string | undefined;
  /** The message in the form in which answers are compared; empty without a message. */
  key: string;
  /** The final message holds the answer. */
  right: boolean;
  /** It has more words than an answer may have. */
  wordy: boolean;
  /** Whether it says that no answer exists, and whether that is right; absent if the run does not ask for it. */
  absence: { said: boolean; rightly: boolean } | undefined;
}

/** Puts an episode into reward, components and counts. */
export function verdictOf(episode: SearchEpisode, settings: SearchSettings): Verdict {
  const { searches, end, answer } = episode;
  const quoted = searches.some(({ quotedAnswer }) => quotedAnswer);
  const unsearched = settings.requireSearch && searches.length === 0;
  const success = episode.right && !episode.wordy && !quoted && !unsearched;
  const wrong = answer !== undefined && !success && episode.absence?.said !== true;
  const repeats = searches.filter(({ repeated }) => repeated).length;
  const paid = Math.max(0, searches.length - settings.freeSearches);
  const components = {
    success: success ? settings.successReward : 0,
    searches: -settings.searchPenalty * paid,
    repeats: -settings.repeatPenalty * repeats,
    noAnswer: answer === undefined ? -settings.noAnswerPenalty : 0,
    wrongAnswer: wrong ? -settings.wrongAnswerPenalty : 0,
    timeout: searches.some(({ status }) => status === 'timeout') ? -settings.timeoutPenalty : 0,
    turnLimit: end === 'turn-limit' ? -settings.turnLimitPenalty : 0,
  };
  return verdict(end, {
    success,
    components,
    metrics: metricsOf(episode),
    record: { search_history: searches },
    answer: episode.key === '' ? undefined : episode.key,
    forfeited: quoted ? true : undefined,
  });
}

const flag = (value: boolean): number => (value ? 1 : 0);

function metricsOf({
  searches,
  answer,
  right,
  wordy,
  absence,
}: SearchEpisode): Record<string, number> {
  return {
    searches: searches.length,
    noSearch: flag(searches.length === 0),
    noAnswer: flag(answer === undefined),
    wordyAnswer: flag(wordy),
    answerFound: flag(searches.some(({ foundAnswer }) => foundAnswer)),
    rightAfterFound: flag(right && searches.some(({ foundAnswer }) => foundAnswer)),
    quotedAnswer: flag(searches.some(({ quotedAnswer }) => quotedAnswer)),
    repeatedSearches: searches.filter(({ repeated }) => repeated).length,
    timedOutSearches: searches.filter(({ status }) => status === 'timeout').length,
    ...(absence && {
      [absence.rightly ? 'saidAbsentRightly' : 'saidAbsentWrongly']: flag(absence.said),
    }),
  };
}
