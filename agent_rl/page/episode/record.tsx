import type { EpisodeWhole } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { Facts } from '../shell/table.tsx';
import { formatNumber, formatSeconds, formatValue, notRecorded } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';

/** Where an episode was recorded, what failed on the way, and what was hidden from the policy. */
export function EpisodeRecord({ whole }: { whole: EpisodeWhole }) {
  const { record, learned } = whole;
  const rows: readonly (readonly [string, string])[] = [
    ['recorded at', whole.place],
    ['seed', String(record.seed)],
    ['weights', `after ${countText(record.step, 'optimiser step')}`],
    ['sandbox', record.sandboxLevel ?? 'none'],
    ['use', learned === null ? notRecorded : `${learned.use}: ${learned.meaning}`],
    ['advantage', formatNumber(learned?.advantage)],
    ['tokens cut to fit maxEpisodeTokens', String(record.cutTokens)],
    ...Object.entries(record.seconds).map(
      ([name, value]) => [`time in ${name}`, formatSeconds(value)] as const,
    ),
  ];
  return (
    <div class="record">
      <Facts rows={rows} />
      <Part title="Failure" value={record.failure} />
      <Part title="Earlier failed attempts" value={record.failedAttempts} />
      <Part title="Retries" value={record.retries} />
      <Part title="Hidden from the policy" value={record.hidden} />
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
