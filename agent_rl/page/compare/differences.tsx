import type { Comparison, ConfigDifference, RunHead } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { useOwnAnswer } from '../data/use-answer.ts';
import { Problem } from '../shell/problem.tsx';
import { formatValue } from '../text/format.ts';
import { Visible } from '../text/plain-text.tsx';
import { Table } from '../shell/table.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface DifferencesProps {
  a: RunHead;
  b: RunHead;
}

/** More differences than these are folded, so that the charts stay in sight. */
const mostOpen = 6;

/** The settings and inputs in which two runs differ. */
export function Differences({ a, b }: DifferencesProps) {
  const { answer, problem } = useOwnAnswer<Comparison>(`/api/compare?a=${a.id}&b=${b.id}`);
  if (problem !== undefined) return <Problem text={problem} />;
  if (answer === undefined) return <p class="waiting">Comparing settings …</p>;
  const amount = answer.rows.length + answer.inputs.length;
  const names = `${escapeUnseen(a.name)} and ${escapeUnseen(b.name)}`;
  if (amount === 0) return <p class="note">{names} have the same settings and inputs.</p>;
  return (
    <details class="differences" open={amount <= mostOpen}>
      <summary>
        {names} differ in {countText(answer.rows.length, 'setting')} and{' '}
        {countText(answer.inputs.length, 'input')}
      </summary>
      <Table
        label="Differences"
        head={['setting', escapeUnseen(a.name), escapeUnseen(b.name)]}
        isLow
      >
        <Rows rows={answer.rows} />
        <Rows rows={answer.inputs} of="input: " />
      </Table>
    </details>
  );
}

function Rows({ rows, of = '' }: { rows: readonly ConfigDifference[]; of?: string }) {
  return (
    <>
      {rows.map(({ path, a, b }) => (
        <tr key={path}>
          <th scope="row">
            {of}
            {escapeUnseen(path)}
          </th>
          <Side value={a} />
          <Side value={b} />
        </tr>
      ))}
    </>
  );
}

const Side = ({ value }: { value: unknown }) => (
  <td class="value">{value === undefined ? '–' : <Visible text={formatValue(value)} />}</td>
);
