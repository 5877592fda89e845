import type { ComponentChildren } from 'preact';

import type { EpisodeRow } from '../../runs/view/api.ts';
import { formatNumber, formatSeconds, notRecorded } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

/** A column of the table of episodes. */
export interface EpisodeColumn {
  key: keyof EpisodeRow;
  title: string;
  isNumber: boolean;
  show: (row: EpisodeRow) => ComponentChildren;
}

const number = (key: keyof EpisodeRow, title: string): EpisodeColumn => ({
  key,
  title,
  isNumber: true,
  show: (row) => formatNumber(row[key] as number | null | undefined),
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

/** Columns after the first, which links to the episode. */
export const episodeColumns: readonly EpisodeColumn[] = [
  number('iteration', 'iter.'),
  {
    key: 'outcome',
    title: 'outcome',
    isNumber: false,
    show: (row) => <OutcomeMark row={row} />,
  },
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
  {
    key: 'use',
    title: 'use',
    isNumber: false,
    show: ({ set, use }) => (set === 'eval' ? 'held out' : escapeUnseen(use ?? notRecorded)),
  },
  {
    key: 'slice',
    title: 'slice',
    isNumber: false,
    show: ({ slice }) => <span class="slice">{escapeUnseen(slice ?? notRecorded)}</span>,
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
    isNumber: false,
    show: ({ question }) => <span class="question">{escapeUnseen(question)}</span>,
  },
];
