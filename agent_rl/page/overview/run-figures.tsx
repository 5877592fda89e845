import { Fragment } from 'preact';

import type { Rate, RunHead } from '../../runs/view/api.ts';
import { bytesText, countText, pointsText } from '../../telemetry/figures.ts';
import { colourClass } from '../../runs/charts/palette.ts';
import { formatTime, notRecorded } from '../text/format.ts';
import { Table } from '../shell/table.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface RunFiguresProps {
  heads: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
}

const results = ['held-out success before', 'after', 'change'];
const headings = ['run', 'state', 'iteration', ...results, 'seed', 'updated'];

/** The state and the result of each run. */
export function RunFigures({ heads, colours }: RunFiguresProps) {
  return (
    <Table label="Results" head={headings} class="figures">
      {heads.map((head) => (
        <Fragment key={head.id}>
          <tr>
            <th scope="row">
              <span class={`swatch ${colourClass(colours.get(head.id) ?? 0)}`} />{' '}
              {escapeUnseen(head.name)}
            </th>
            <td>
              <span class={`state ${head.state}`}>{head.state}</span>
            </td>
            <td>
              {head.iteration}
              {head.plannedIterations !== null && ` of ${head.plannedIterations}`}
            </td>
            <td>{measuredText(head.headline?.before, hundredths, '%')}</td>
            <td>{measuredText(head.headline?.after, hundredths, '%')}</td>
            <td>{measuredText(head.headline?.difference, pointsText, 'points')}</td>
            <td>{head.seed ?? notRecorded}</td>
            <td>{formatTime(head.updatedAt)}</td>
          </tr>
          <tr>
            <td class="why" colSpan={headings.length}>
              {escapeUnseen(head.stateWhy ?? '')}
              <Reading head={head} />
            </td>
          </tr>
        </Fragment>
      ))}
    </Table>
  );
}

/** How much of the episodes has been read, and which lines are unreadable. */
function Reading({ head: { index, problem, stateWhy } }: { head: RunHead }) {
  return (
    <>
      {!index.ready && (
        <p class="note">
          Reading episodes: {bytesText(index.bytes)} of {bytesText(index.totalBytes)}
        </p>
      )}
      {index.unreadableCount > 0 && (
        <details class="problem">
          <summary>{countText(index.unreadableCount, 'line')} cannot be read</summary>
          <ul>
            {index.unreadable.map((place) => (
              <li key={place}>{escapeUnseen(place)}</li>
            ))}
          </ul>
        </details>
      )}
      {problem !== null && problem !== stateWhy && <p class="problem">{escapeUnseen(problem)}</p>}
    </>
  );
}

/** A rate or a change with its interval: `31.0 % [14.3, 46.7]`. */
function measuredText(
  rate: Rate | null | undefined,
  text: (value: number) => string,
  unit: string,
): string {
  if (!rate) return notRecorded;
  const { value, low, high } = rate;
  const interval = low === null || high === null ? '' : ` [${text(low)}, ${text(high)}]`;
  return `${text(value)} ${unit}${interval}`;
}

const hundredths = (share: number): string => (100 * share).toFixed(1);
