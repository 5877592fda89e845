import type { TaskRow } from '../../runs/view/api.ts';
import { formatShare } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { rateOf } from './sort-tasks.ts';

interface SolveRatesProps {
  task: TaskRow;
  /** The right end of the axis. */
  lastIteration: number;
}

const [width, height, margin] = [140, 26, 4];

/** A task's success rate by iteration, a point each; evaluations are hollow. */
export function SolveRates({ task, lastIteration }: SolveRatesProps) {
  const points = task.byIteration.flatMap((tally) => {
    const rate = rateOf(tally);
    return rate === null ? [] : [{ ...tally, rate }];
  });
  const x = (iteration: number): number =>
    margin + ((width - 2 * margin) * iteration) / Math.max(1, lastIteration);
  const y = (rate: number): number => height - margin - (height - 2 * margin) * rate;
  const words = points.map(
    ({ iteration, when, rate, successes, attempts }) =>
      `${when === 'train' ? `iteration ${iteration}` : escapeUnseen(when)}: ${formatShare(rate)} (${successes} of ${attempts})`,
  );
  const trained = points.filter(({ when }) => when === 'train');
  return (
    <svg
      class="solve-rates"
      width={width}
      height={height}
      role="img"
      aria-label={words.join('; ') || 'not judged yet'}
    >
      <title>{words.join('\n')}</title>
      <line x1={0} x2={width} y1={y(0)} y2={y(0)} class="base" />
      {trained.length > 1 && (
        <polyline
          points={trained.map(({ iteration, rate }) => `${x(iteration)},${y(rate)}`).join(' ')}
        />
      )}
      {points.map(({ iteration, when, rate }) => (
        <circle
          key={`${when} ${iteration}`}
          class={when === 'train' ? 'trained' : 'held-out'}
          cx={x(iteration)}
          cy={y(rate)}
          r={2.6}
        />
      ))}
    </svg>
  );
}
