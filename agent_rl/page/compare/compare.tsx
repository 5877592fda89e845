import type { RunHead } from '../../runs/view/api.ts';
import { Overview } from '../overview/overview.tsx';
import type { Route } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { escapeUnseen } from '../text/visible-text.ts';

interface CompareProps {
  runs: readonly RunHead[];
  /** The current run first. */
  shown: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
  route: Route;
}

/** Two runs side by side: their results, the settings and inputs that differ, and their curves. */
export function Compare({ runs, shown, colours, route }: CompareProps) {
  const [a, b] = shown;
  if (a === undefined) return <p class="waiting">There are no runs to compare yet.</p>;
  const choose = (one: string, other: string | undefined): void =>
    adjust({ ...route, run: one, query: { ...route.query, with: other ?? '' } });
  return (
    <div class="compare">
      <div class="controls">
        <Choice label="Run" runs={runs} chosen={a.id} choose={(id) => choose(id, b?.id)} />
        <Choice
          label="Compared with"
          runs={runs.filter(({ id }) => id !== a.id)}
          chosen={b?.id}
          choose={(id) => choose(a.id, id)}
        />
      </div>
      {b === undefined ? (
        <p class="waiting">Choose a run to compare it with.</p>
      ) : (
        <Overview current={a} shown={[a, b]} colours={colours} />
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
        {chosen === undefined && <option value="">Choose …</option>}
        {runs.map(({ id, name }) => (
          <option key={id} value={id}>
            {escapeUnseen(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
