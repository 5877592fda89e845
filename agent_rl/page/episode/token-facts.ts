import type { EpisodeTokens, EpisodeWhole } from '../../runs/view/api.ts';
import { formatNumber, notRecorded } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

/** Everything recorded about a token, as rows of a name and a value. */
export function tokenFacts(
  whole: EpisodeWhole,
  tokens: EpisodeTokens,
  at: number,
): readonly (readonly [string, string])[] {
  const { ids, texts, logProbs, learned } = tokens;
  const span = spanAt(tokens, at);
  const value = (column: readonly (number | null)[] | undefined): string =>
    formatNumber(column?.[at]);
  const optional = (name: string, column: readonly (number | null)[] | undefined) =>
    column?.[at] === null || column?.[at] === undefined ? [] : [[name, value(column)] as const];
  const why = whyMasked(whole, tokens, at);
  const isSampled = span?.source === 'sampled';
  return [
    ['token', texts?.[at] === undefined ? notRecorded : escapeUnseen(JSON.stringify(texts[at]))],
    ['id', `${ids[at]}, position ${at}`],
    ['source', sourceText(span)],
    ...(isSampled
      ? ([
          ['log p when sampled', withProbability(logProbs[at])],
          ['log p in training', withProbability(learned?.logProbs[at])],
          ...optional('log p in the last training pass', learned?.lastLogProbs),
          ...optional('log p of the old policy', learned?.oldLogProbs),
          ...optional('log p of the reference', learned?.refLogProbs),
          ['ratio', learned ? value(learned.ratios) : notRecorded],
          ['advantage', learned ? value(learned.advantages) : formatNumber(whole.row.advantage)],
          ['weight in the loss', learned ? value(learned.weights) : notRecorded],
        ] as const)
      : []),
    ...(why === null ? [] : ([['not trained on', why]] as const)),
  ];
}

type Span = EpisodeTokens['spans'][number];

const spanAt = ({ spans }: EpisodeTokens, at: number): Span | undefined =>
  spans.find(({ start, end }) => start <= at && at < end);

const sourceText = (span: Span | undefined): string => {
  if (span === undefined) return notRecorded;
  const { source, version, turn } = span;
  return [
    source,
    ...(version === undefined ? [] : [`weights ${version}`]),
    ...(turn === undefined ? [] : [`turn ${turn + 1}`]),
  ].join(', ');
};

const withProbability = (logProb: number | null | undefined): string =>
  logProb === null || logProb === undefined
    ? notRecorded
    : `${formatNumber(logProb)} (${(100 * Math.exp(logProb)).toPrecision(3)} %)`;

/** Why a token has no weight in the loss; null if it has one. */
export function whyMasked(
  { row, learned, record }: EpisodeWhole,
  tokens: EpisodeTokens,
  at: number,
): string | null {
  const source = spanAt(tokens, at)?.source;
  if (source !== 'sampled' && source !== 'demonstration')
    return `The policy did not write this token (${source ?? 'source not recorded'}).`;
  if (row.when !== 'train') return 'The run never trains on held-out episodes.';
  if (!record.learns) return 'The run does not train the agent of this token.';
  const weight = tokens.learned?.weights[at];
  if (weight !== undefined && weight !== null)
    return weight === 0 ? 'The weight of this token is 0.' : null;
  if (learned === null) return 'Not recorded: the run has no record of its updates.';
  if (learned.use === 'trained')
    return 'This token has no weight in the loss, although other tokens of the episode have one.';
  return `${learned.use}: ${learned.meaning}`;
}
