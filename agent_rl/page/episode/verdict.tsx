import type { EpisodeLine } from '../../runs/view/api.ts';
import { OutcomeMark } from '../episodes/episode-columns.tsx';
import { formatNumber, formatValue } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

/** What judged an episode, and how. */
export function Verdict({ record }: { record: EpisodeLine }) {
  const { components, scores, metrics, judgedBy, groupReward } = record;
  return (
    <section class="card" aria-label="Verdict">
      <h3>Verdict</h3>
      <Numbers title="parts of the reward" numbers={components} />
      <Numbers title="scores before weights" numbers={scores} />
      <Numbers title="counted by the environment" numbers={metrics} />
      {judgedBy === null ? (
        <p class="note">What judged it was not recorded.</p>
      ) : (
        <p class="note">Judged by {escapeUnseen(judges(judgedBy))}.</p>
      )}
      {groupReward !== null && (
        <details>
          <summary>reward its group gave it</summary>
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
  ].join(', ') || 'nothing';

function Numbers({ title, numbers }: { title: string; numbers: Readonly<Record<string, number>> }) {
  const entries = Object.entries(numbers);
  if (entries.length === 0) return null;
  return (
    <table class="numbers">
      <caption>{title}</caption>
      <tbody>
        {entries.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{escapeUnseen(name)}</th>
            <td class="number">{formatNumber(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const isPassed = (status: string): boolean => status === 'passed';

function HiddenTests({ statuses }: { statuses: readonly string[] | undefined }) {
  if (statuses === undefined) return <p class="note">Verdicts of hidden tests: not recorded.</p>;
  return (
    <table class="numbers">
      <caption>
        hidden tests: {statuses.filter(isPassed).length} of {statuses.length} passed
      </caption>
      <tbody>
        {statuses.map((status, at) => (
          <tr key={at}>
            <th scope="row">test {at + 1}</th>
            <td>
              <OutcomeMark row={{ outcome: status, success: isPassed(status) }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
