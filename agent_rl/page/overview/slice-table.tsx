import type { Rate, SliceRates } from '../../runs/view/api.ts';
import { formatShare } from '../text/format.ts';
import { Scroll } from '../shell/scroll.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface SliceTableProps {
  slices: readonly SliceRates[];
  /** The name of the run, if several are shown. */
  of: string | null;
}

/** Held-out success by slice before and after training, with the intervals of the run's summary. */
export function SliceTable({ slices, of }: SliceTableProps) {
  if (slices.length === 0) return null;
  return (
    <figure class="chart slices">
      <figcaption>
        Held-out success by slice, 95 % intervals{of !== null && ` · ${escapeUnseen(of)}`}
      </figcaption>
      <Scroll label="Held-out success by slice">
        <table>
          <thead>
            <tr>
              <th scope="col">slice</th>
              <th scope="col">attempts</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
              <th scope="col">
                <span class="spread">
                  <span>0 %</span>
                  <span>100 %</span>
                </span>
              </th>
            </tr>
          </thead>
          <tbody>
            {slices.map(({ name, before, after }) => (
              <tr key={name}>
                <th scope="row">{escapeUnseen(name)}</th>
                <td class="number">{(after ?? before)?.n}</td>
                <td class="number">{formatShare(before?.value)}</td>
                <td class="number">{formatShare(after?.value)}</td>
                <td>
                  <Intervals rates={[before, after]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </figure>
  );
}

function Intervals({ rates }: { rates: readonly (Rate | null)[] }) {
  const words = rates.map((rate, at) => `${at === 0 ? 'before' : 'after'} ${wordsOf(rate)}`);
  return (
    <svg class="intervals" viewBox="0 0 100 16" role="img" aria-label={words.join(', ')}>
      {rates.map(
        (rate, at) =>
          rate && (
            <g key={at} class={at === 0 ? 'before' : 'after'}>
              {rate.low !== null && rate.high !== null && (
                <rect
                  x={100 * rate.low}
                  width={Math.max(0.5, 100 * (rate.high - rate.low))}
                  y={3 + 7 * at}
                  height={3}
                />
              )}
              <circle cx={100 * rate.value} cy={4.5 + 7 * at} r={2.5} />
            </g>
          ),
      )}
    </svg>
  );
}

const wordsOf = (rate: Rate | null): string =>
  rate === null
    ? 'not recorded'
    : `${formatShare(rate.value)} (${formatShare(rate.low)} to ${formatShare(rate.high)})`;
