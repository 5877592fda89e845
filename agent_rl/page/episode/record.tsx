import type { EpisodeWhole } from '../../runs/view/api.ts';
import { formatNumber, formatSeconds, formatValue, notRecorded } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

/** Where an episode comes from, what failed on the way, and what the policy could not see. */
export function EpisodeRecord({ whole }: { whole: EpisodeWhole }) {
  const { seed, drawnAt, step, place, sandboxLevel, learned, cutTokens, seconds } = whole;
  const rows: readonly (readonly [string, string])[] = [
    ['recorded at', place],
    ['seed', seed === null ? notRecorded : String(seed)],
    [
      'drawn at',
      drawnAt === null
        ? notRecorded
        : `iteration ${drawnAt.iteration}, round ${drawnAt.round}, slot ${drawnAt.slot}`,
    ],
    ['weights after', step === null ? notRecorded : `${step} optimiser steps`],
    ['sandbox', sandboxLevel ?? 'none, or not recorded'],
    ['use', learned === null ? notRecorded : `${learned.use}: ${learned.meaning}`],
    ['advantage', formatNumber(learned?.advantage)],
    ['tokens cut for lack of room', String(cutTokens)],
    ...Object.entries(seconds ?? {}).map(
      ([name, value]) => [`seconds of ${name}`, formatSeconds(value)] as const,
    ),
  ];
  return (
    <div class="record">
      <table class="numbers">
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{escapeUnseen(name)}</th>
              <td>{escapeUnseen(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Part title="Failure" value={whole.failure} />
      <Part title="Attempts that failed before" value={whole.failedAttempts} />
      <Part title="Retries" value={whole.retries} />
      <Part title="What the policy could not see" value={whole.hidden} />
    </div>
  );
}

function Part({ title, value }: { title: string; value: unknown }) {
  const isEmpty =
    value === null ||
    value === undefined ||
    (typeof value === 'object' && Object.keys(value).length === 0);
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {isEmpty ? <p class="note">none</p> : <PlainText text={formatValue(value)} />}
    </section>
  );
}
