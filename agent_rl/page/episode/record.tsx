import type { EpisodeWhole } from '../../runs/view/api.ts';
import { Facts } from '../shell/table.tsx';
import { formatNumber, formatSeconds, formatValue, notRecorded } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';

/** Where an episode comes from, what failed on the way, and what the policy could not see. */
export function EpisodeRecord({ whole }: { whole: EpisodeWhole }) {
  const { record, learned } = whole;
  const rows: readonly (readonly [string, string])[] = [
    ['recorded at', whole.place],
    ['seed', String(record.seed)],
    ['weights after', `${record.step} optimiser steps`],
    ['sandbox', record.sandboxLevel ?? 'none'],
    ['use', learned === null ? notRecorded : `${learned.use}: ${learned.meaning}`],
    ['advantage', formatNumber(learned?.advantage)],
    ['tokens cut for lack of room', String(record.cutTokens)],
    ...Object.entries(record.seconds).map(
      ([name, value]) => [`seconds of ${name}`, formatSeconds(value)] as const,
    ),
  ];
  return (
    <div class="record">
      <Facts rows={rows} />
      <Part title="Failure" value={record.failure} />
      <Part title="Attempts that failed before" value={record.failedAttempts} />
      <Part title="Retries" value={record.retries} />
      <Part title="What the policy could not see" value={record.hidden} />
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
