import type { EpisodeLine } from '../../runs/view/api.ts';
import { OutcomeMark } from '../episodes/episode-columns.tsx';
import { Facts } from '../shell/table.tsx';
import { formatNumber, formatValue } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

/** How an episode was judged, and by what. */
export function Verdict({ record }: { record: EpisodeLine }) {
  const { components, scores, metrics, judgedBy, groupReward } = record;
  return (
    <section class="card" aria-label="Verdict">
      <h3>Verdict</h3>
      <Numbers title="Reward components" numbers={components} />
      <Numbers title="Scores before weighting" numbers={scores} />
      <Numbers title="Environment metrics" numbers={metrics} />
      {judgedBy === null ? (
        <p class="note">The grader was not recorded.</p>
      ) : (
        <p class="note">Judged by {escapeUnseen(judges(judgedBy))}.</p>
      )}
      {groupReward !== null && (
        <details>
          <summary>Reward within the group</summary>
          <PlainText text={formatValue(groupReward)} />
        </details>
      )}
      <HiddenTests statuses={record.hidden_tests} />
    </section>
  );
}

const judges = ({
  environment,
  environmentWeight,
  rewards,
}: NonNullable<EpisodeLine['judgedBy']>): string =>
  [
    ...(environment === undefined
      ? []
      : [`the environment ${environment} (weight ${environmentWeight})`]),
    ...rewards.map(
      ({ name, weight, tool }) =>
        `${name} (weight ${weight}${tool === undefined ? '' : `, with ${tool}`})`,
    ),
  ].join(', ') || 'no reward';

const Numbers = ({
  title,
  numbers,
}: {
  title: string;
  numbers: Readonly<Record<string, number>>;
}) => (
  <Facts
    caption={title}
    rows={Object.entries(numbers).map(([name, value]) => [name, formatNumber(value)])}
  />
);

const isPassed = (status: string): boolean => status === 'passed';

function HiddenTests({ statuses }: { statuses: readonly string[] | undefined }) {
  if (statuses === undefined) return <p class="note">Hidden tests: not recorded.</p>;
  const caption = `Hidden tests: ${statuses.filter(isPassed).length} of ${statuses.length} passed`;
  return (
    <Facts
      caption={caption}
      rows={statuses.map((status, at) => [
        `test ${at + 1}`,
        <OutcomeMark row={{ outcome: status, success: isPassed(status) }} />,
      ])}
    />
  );
}
