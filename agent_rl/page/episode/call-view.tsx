import type { EpisodeCall } from '../../runs/view/api.ts';
import { formatSeconds, formatValue } from '../text/format.ts';
import { PlainText } from '../text/plain-text.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface CallViewProps {
  name: string;
  given: Readonly<Record<string, unknown>>;
  /** What became of it; undefined where it was not recorded. */
  call: EpisodeCall | undefined;
  /** As the model was told. */
  result: string | undefined;
}

/** A call of a tool with its result, its status and the time it took. */
export function CallView({ name, given, call, result }: CallViewProps) {
  const isOk = call?.status === 'ok';
  return (
    <div class={isOk ? 'call' : 'call failed'}>
      <h4>
        <span aria-hidden="true">→</span> {escapeUnseen(name)}{' '}
        <span class="status">
          {call === undefined ? 'status not recorded' : escapeUnseen(call.status)}
          {call !== undefined && `, ${formatSeconds(call.ms / 1000)}`}
        </span>
      </h4>
      {Object.entries(given).map(([key, value]) => (
        <div key={key} class="argument">
          <h5>{escapeUnseen(key)}</h5>
          <PlainText text={formatValue(value)} />
        </div>
      ))}
      {result !== undefined && (
        <div class={`result ${isOk ? '' : 'failed'}`}>
          <h5>result</h5>
          <PlainText text={result} />
        </div>
      )}
      {call?.problem && <p class="problem">{escapeUnseen(call.problem)}</p>}
      <Hidden title="input the policy could not see" value={call?.hiddenInput} />
      <Hidden title="data the policy could not see" value={call?.hiddenData} />
    </div>
  );
}

/** Something recorded that was not shown to the policy, folded. */
function Hidden({ title, value }: { title: string; value: unknown }) {
  if (value === undefined || value === null) return null;
  return (
    <details class="hidden-part">
      <summary>{title}</summary>
      <PlainText text={formatValue(value)} />
    </details>
  );
}
