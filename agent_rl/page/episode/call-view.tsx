import type { EpisodeLine } from '../../runs/view/api.ts';
import { formatSeconds, formatValue } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface CallViewProps {
  name: string;
  given: Readonly<Record<string, unknown>>;
  /** Has the call's status and result. */
  record: EpisodeLine;
  id: string;
  /** The result that the model received. */
  result: string | undefined;
}

/** A call of a tool with its result, its status and the time it took. */
export function CallView({ name, given, record, id, result }: CallViewProps) {
  const call = record.toolCalls.find((one) => one.id === id);
  const { toolInputs = {}, toolData = {} } = record.hidden;
  const shown = result ?? call?.content;
  const isOk = call?.status === 'ok';
  return (
    <div class={isOk ? 'call' : 'call failed'}>
      <h4>
        <span aria-hidden="true">→</span> {escapeUnseen(name)}{' '}
        <span class="status">
          {call === undefined ? 'status not recorded' : escapeUnseen(call.status)}
          {call !== undefined && `, ${formatSeconds(call.wallMs / 1000)}`}
        </span>
      </h4>
      {Object.entries(given).map(([key, value]) => (
        <div key={key} class="argument">
          <h5>{escapeUnseen(key)}</h5>
          <PlainText text={formatValue(value)} />
        </div>
      ))}
      {shown !== undefined && (
        <div class={`result ${isOk ? '' : 'failed'}`}>
          <h5>result</h5>
          <PlainText text={shown} />
        </div>
      )}
      {call?.problem && <p class="problem">{escapeUnseen(call.problem)}</p>}
      <Hidden title="input hidden from the policy" value={toolInputs[id]} />
      <Hidden title="data hidden from the policy" value={toolData[id]} />
    </div>
  );
}

/** A value that was recorded but hidden from the policy, folded. */
function Hidden({ title, value }: { title: string; value: unknown }) {
  if (value === undefined || value === null) return null;
  return (
    <details class="hidden-part">
      <summary>{title}</summary>
      <PlainText text={formatValue(value)} />
    </details>
  );
}
