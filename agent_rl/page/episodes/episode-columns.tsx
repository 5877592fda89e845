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

/** Null stands for none: the system failed, or nothing was compared; undefined for what was not recorded. */
export const rewardText = (value: number | null | undefined): string =>
  value === null ? 'none' : formatNumber(value);

/** A dot and a word: colour alone says nothing to some. */
export const OutcomeMark = ({ row }: { row: Pick<EpisodeRow, 'outcome' | 'success'> }) => (
  <span class={`outcome ${row.success ? 'right' : 'wrong'}`}>
    <span aria-hidden="true">{row.success ? '✓' : '✗'}</span> {escapeUnseen(row.outcome)}
  </span>
);

/** What an episode is called in a list: its sample, its agent where there are several, and when it was held out. */
export const attemptText = ({ sample, agent, when }: EpisodeRow): string =>
  [sample, ...(agent === 'policy' ? [] : [agent]), ...(when === 'train' ? [] : [when])]
    .map((part) => escapeUnseen(String(part)))
    .join(' · ');

/** The columns of the table of episodes, but for those that say nothing of these rows. */
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
  number('iteration', 'iter.'),
  { key: 'outcome', title: 'outcome', show: (row) => <OutcomeMark row={row} /> },
  {
    key: 'reward',
    title: 'reward',
    isNumber: true,
    show: ({ reward }) => rewardText(reward),
  },
  {
    key: 'advantage',
    title: 'adv.',
    isNumber: true,
    show: ({ advantage }) => rewardText(advantage),
  },
  { key: 'use', title: 'use', show: (row) => useText(row) },
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

/** The bucket of the ledger that an episode is in. */
export const useText = ({ when, use }: EpisodeRow): string =>
  when === 'train' ? escapeUnseen(use ?? notRecorded) : 'held out';
