import type { RunHead } from '../../runs/view/api.ts';
import { Overview } from '../overview/overview.tsx';
import type { Route } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { Differences } from './differences.tsx';

interface CompareProps {
  runs: readonly RunHead[];
  /** The current run first. */
  shown: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
  route: Route;
}

/** Two runs side by side: their results, what they were given, their curves. */
export function Compare({ runs, shown, colours, route }: CompareProps) {
  const [a, b] = shown;
  if (a === undefined) return <p class="waiting">There is no run to compare.</p>;
  const choose = (one: string, other: string | undefined): void =>
    adjust({ ...route, run: one, query: { ...route.query, with: other ?? '' } });
  return (
    <div class="compare">
      <div class="controls">
        <Choice label="run" runs={runs} chosen={a.id} choose={(id) => choose(id, b?.id)} />
        <Choice
          label="compared with"
          runs={runs.filter(({ id }) => id !== a.id)}
          chosen={b?.id}
          choose={(id) => choose(a.id, id)}
        />
      </div>
      {b === undefined ? (
        <p class="waiting">Choose the run to compare it with.</p>
      ) : (
        <>
          <Differences a={a} b={b} isOpen />
          <Overview current={a} shown={[a, b]} colours={colours} isPlain />
        </>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  runs: readonly RunHead[];
  chosen: string | undefined;
  choose: (id: string) => void;
}

function Choice({ label, runs, chosen, choose }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={chosen ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {chosen === undefined && <option value="">choose …</option>}
        {runs.map(({ id, name }) => (
          <option key={id} value={id}>
            {escapeUnseen(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
