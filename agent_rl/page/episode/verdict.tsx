import type { EpisodeVerdict, HiddenTest } from '../../runs/view/api.ts';
import { formatNumber, formatValue } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

/** What judged an episode, and how. */
export function Verdict({ verdict }: { verdict: EpisodeVerdict }) {
  const { components, scores, metrics, judgedBy, groupReward, hiddenTests } = verdict;
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
      <HiddenTests tests={hiddenTests} />
    </section>
  );
}

const judges = ({
  environment,
  environmentWeight,
  rewards,
}: NonNullable<EpisodeVerdict['judgedBy']>): string =>
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

function HiddenTests({ tests }: { tests: readonly HiddenTest[] | null }) {
  if (tests === null) return <p class="note">Verdicts of hidden tests: not recorded.</p>;
  return (
    <table class="numbers">
      <caption>
        hidden tests: {tests.filter(({ passed }) => passed).length} of {tests.length} passed
      </caption>
      <tbody>
        {tests.map(({ name, passed, status }) => (
          <tr key={name}>
            <th scope="row">{escapeUnseen(name)}</th>
            <td>
              <span class={`outcome ${passed ? 'right' : 'wrong'}`}>
                <span aria-hidden="true">{passed ? '✓' : '✗'}</span> {escapeUnseen(status)}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
