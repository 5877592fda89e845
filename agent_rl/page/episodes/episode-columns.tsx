import type { ComponentChildren } from 'preact';

import type { EpisodeRow } from '../../runs/view/api.ts';
import { formatNumber, formatSeconds } from '../text/format.ts';
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

const text = (key: keyof EpisodeRow, title: string): EpisodeColumn => ({
  key,
  title,
  isNumber: false,
  show: (row) => escapeUnseen(String(row[key] ?? '–')),
});

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
  number('reward', 'reward'),
  number('advantage', 'adv.'),
  text('use', 'use'),
  text('slice', 'slice'),
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
