import { useMeanings } from '../../runs/query/use-meanings.ts';
import type { EpisodeRow } from '../../runs/view/api.ts';
import type { Column } from '../shell/list.tsx';
import { formatNumber, formatSeconds, notRecorded } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

type Numbers = 'iteration' | 'turns' | 'calls' | 'errors' | 'sampledTokens';

const number = (key: Numbers, title: string): Column<EpisodeRow> => ({
  key,
  title,
  isNumber: true,
  show: (row) => formatNumber(row[key]),
});

/** Null means that the episode has none: the system failed, or it was not compared; undefined means not recorded. */
export const rewardText = (value: number | null | undefined): string =>
  value === null ? 'none' : formatNumber(value);

/** A sign and a word, since not everyone can tell the colours apart. */
export const OutcomeMark = ({ row }: { row: Pick<EpisodeRow, 'outcome' | 'success'> }) => (
  <span class={`outcome ${row.success ? 'right' : 'wrong'}`}>
    <span aria-hidden="true">{row.success ? '✓' : '✗'}</span> {escapeUnseen(row.outcome)}
  </span>
);

/** The name of an episode within its task: its sample, its agent if there are several, and which evaluation it belongs to. */
export const attemptText = ({ sample, agent, when }: EpisodeRow): string =>
  [sample, ...(agent === 'policy' ? [] : [agent]), ...(when === 'train' ? [] : [when])]
    .map((part) => escapeUnseen(String(part)))
    .join(' · ');

/** The columns of the table of episodes, without those that are empty in all rows. */
export const columnsOf = (rows: readonly EpisodeRow[]): readonly Column<EpisodeRow>[] =>
  episodeColumns.filter(
    ({ key }) =>
      (key !== 'advantage' && key !== 'use' && key !== 'slice') ||
      rows.some((row) => row[key] !== null && row[key] !== undefined),
  );

const episodeColumns: readonly Column<EpisodeRow>[] = [
  {
    key: 'taskId',
    title: 'episode',
    show: (row) => `${escapeUnseen(row.taskId)} · ${attemptText(row)}`,
  },
  number('iteration', 'iteration'),
  { key: 'outcome', title: 'outcome', show: (row) => <OutcomeMark row={row} /> },
  {
    key: 'reward',
    title: 'reward',
    isNumber: true,
    show: ({ reward }) => rewardText(reward),
  },
  {
    key: 'advantage',
    title: 'advantage',
    hint: 'how much better the reward is than the rewards of its group: an update makes the tokens of better episodes more likely',
    isNumber: true,
    show: ({ advantage }) => rewardText(advantage),
  },
  {
    key: 'use',
    title: 'use',
    hint: 'how the update used the episode',
    show: (row) => <Use row={row} />,
  },
  {
    key: 'slice',
    title: 'slice',
    show: ({ slice }) => <span class="slice">{escapeUnseen(slice ?? 'none')}</span>,
  },
  number('turns', 'turns'),
  number('calls', 'calls'),
  number('errors', 'errors'),
  number('sampledTokens', 'tokens'),
  {
    key: 'seconds',
    title: 'time',
    isNumber: true,
    show: ({ seconds }) => formatSeconds(seconds),
  },
  {
    key: 'question',
    title: 'question',
    class: 'rest',
    show: ({ question }) => <span class="question">{escapeUnseen(question)}</span>,
  },
];

const meanings: Readonly<Record<string, string>> = {
  ...useMeanings,
  'held out': 'evaluated, never trained on',
};

const useText = ({ when, use }: EpisodeRow): string =>
  when === 'train' ? escapeUnseen(use ?? notRecorded) : 'held out';

/** What the update did with an episode. */
export const Use = ({ row }: { row: EpisodeRow }) => (
  <span title={meanings[useText(row)]}>{useText(row)}</span>
);

/** The words in the table that need an explanation. */
export const termsOf = (rows: readonly EpisodeRow[]): readonly (readonly [string, string])[] =>
  [
    ...columnsOf(rows).map(({ title, hint = '' }) => [title, hint] as const),
    ...[...new Set(rows.map(useText))].map((use) => [use, meanings[use] ?? ''] as const),
  ].filter(([, meaning]) => meaning !== '');
