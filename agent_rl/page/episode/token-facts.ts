import type { EpisodeTokens, EpisodeWhole } from '../../runs/view/api.ts';
import { formatNumber, notRecorded } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

/** What is known of one token, as rows of a name and a value. */
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
    ['id', `${ids[at]} at ${at}`],
    ['source', sourceText(span)],
    ...(isSampled
      ? ([
          ['log p, sampling', withProbability(logProbs[at])],
          ['log p, training', withProbability(learned?.logProbs[at])],
          ...optional('log p, last pass', learned?.lastLogProbs),
          ...optional('log p, ratio is to', learned?.oldLogProbs),
          ...optional('log p, reference', learned?.refLogProbs),
          ['ratio', learned ? value(learned.ratios) : notRecorded],
          ['advantage', learned ? value(learned.advantages) : formatNumber(whole.row.advantage)],
          ['weight in the loss', learned ? value(learned.weights) : notRecorded],
        ] as const)
      : []),
    ...(why === null ? [] : ([['masked', why]] as const)),
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

/** Why a token has no part in the loss; null where it has one. */
export function whyMasked(
  { row, learned, record }: EpisodeWhole,
  tokens: EpisodeTokens,
  at: number,
): string | null {
  const source = spanAt(tokens, at)?.source;
  if (source !== 'sampled' && source !== 'demonstration')
    return `The policy did not write it (${source ?? 'source not recorded'}).`;
  if (row.when !== 'train') return 'Held-out episodes are never trained on.';
  if (!record.learns) return 'Its agent does not learn.';
  const weight = tokens.learned?.weights[at];
  if (weight !== undefined && weight !== null) return weight === 0 ? 'Its weight is 0.' : null;
  if (learned === null) return 'Not recorded: this run kept no record of its updates.';
  if (learned.use === 'trained') return 'It has no weight in the loss; others of its episode have.';
  return `${learned.use}: ${learned.meaning}`;
}
