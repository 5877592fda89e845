import type { TaskRow } from '../../runs/view/api.ts';
import { pointsText } from '../../telemetry/figures.ts';
import type { Column } from '../shell/list.tsx';
import { formatShare } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { SolveRates } from './solve-rates.tsx';
import { changeOf, rateOf } from './sort-tasks.ts';

/** @param lastIteration the right end of the small charts */
export const taskColumns = (lastIteration: number): readonly Column<TaskRow>[] => [
  { key: 'taskId', title: 'task', show: ({ taskId }) => escapeUnseen(taskId) },
  { key: 'slice', title: 'slice', show: ({ slice }) => escapeUnseen(slice ?? 'none') },
  {
    key: 'attempts',
    title: 'attempts',
    isNumber: true,
    show: ({ attempts }) => attempts.toLocaleString('en'),
  },
  { key: 'rate', title: 'success', isNumber: true, show: (task) => formatShare(rateOf(task)) },
  {
    key: 'change',
    title: 'change',
    hint: 'success at the last iteration minus success at the first, in percentage points',
    isNumber: true,
    show: (task) => {
      const change = changeOf(task);
      return change === null ? '–' : `${pointsText(change)} points`;
    },
  },
  { key: 'lastIteration', title: 'latest', isNumber: true, show: (task) => task.lastIteration },
  {
    key: 'rates',
    title: 'success by iteration',
    isFixed: true,
    show: (task) => <SolveRates task={task} lastIteration={lastIteration} />,
  },
  {
    key: 'question',
    title: 'question',
    isFixed: true,
    class: 'rest',
    show: ({ question }) => <span class="question">{escapeUnseen(question)}</span>,
  },
];
