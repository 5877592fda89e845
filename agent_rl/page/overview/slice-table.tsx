import { formatShare } from '../text/format.ts';
import { Scroll } from '../shell/scroll.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface SliceRate {
  successRate: number;
  n: number;
  low: number | null;
  high: number | null;
}

type Json = Readonly<Record<string, unknown>>;

const recordOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

const edge = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** The groups of one evaluation of `summary.json`. */
function ratesOf(evaluation: unknown): ReadonlyMap<string, SliceRate> {
  const groups = Object.entries(recordOf(recordOf(evaluation)['groups']));
  return new Map(
    groups.flatMap(([name, group]): [string, SliceRate][] => {
      const { successRate, n, interval95 } = recordOf(group);
      if (typeof successRate !== 'number' || typeof n !== 'number') return [];
      const { low, high } = recordOf(interval95);
      return [[name, { successRate, n, low: edge(low), high: edge(high) }]];
    }),
  );
}

interface SliceTableProps {
  summary: Json | null;
  /** The run it belongs to, where several are shown. */
  of: string | null;
}

/** Held-out success by slice before and after training, with the intervals that the run's summary records. */
export function SliceTable({ summary, of }: SliceTableProps) {
  const evaluations = recordOf(summary?.['eval']);
  const [before, after] = [ratesOf(evaluations['before']), ratesOf(evaluations['after'])];
  const slices = [...new Set([...before.keys(), ...after.keys()])];
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
              <th scope="col">n</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
              <th scope="col">
                <span class="spread">
                  <span>0</span>
                  <span>1</span>
                </span>
              </th>
            </tr>
          </thead>
          <tbody>
            {slices.map((slice) => (
              <tr key={slice}>
                <th scope="row">{escapeUnseen(slice)}</th>
                <td class="number">{(after.get(slice) ?? before.get(slice))?.n}</td>
                <td class="number">{formatShare(before.get(slice)?.successRate)}</td>
                <td class="number">{formatShare(after.get(slice)?.successRate)}</td>
                <td>
                  <Intervals rates={[before.get(slice), after.get(slice)]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </figure>
  );
}

function Intervals({ rates }: { rates: readonly (SliceRate | undefined)[] }) {
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
              <circle cx={100 * rate.successRate} cy={4.5 + 7 * at} r={2.5} />
            </g>
          ),
      )}
    </svg>
  );
}

const wordsOf = (rate: SliceRate | undefined): string =>
  rate === undefined
    ? 'not recorded'
    : `${formatShare(rate.successRate)} (${formatShare(rate.low)} to ${formatShare(rate.high)})`;
