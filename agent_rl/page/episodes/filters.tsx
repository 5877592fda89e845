import type { EpisodePage, Facet } from '../../runs/view/api.ts';
import type { Route } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { type FilterName, filtersOf, withFilter } from './episode-query.ts';
import { Field } from '../shell/field.tsx';

interface FiltersProps {
  route: Route;
  /** Undefined before the first answer. */
  page: EpisodePage | undefined;
  /** Of the search through texts. */
  searchId: string;
}

/** The filters of the list of episodes. */
export function Filters({ route, page, searchId }: FiltersProps) {
  const filters = filtersOf(route);
  const set = (name: FilterName) => (value: string) => adjust(withFilter(route, name, value));
  const field = (name: FilterName, label: string) => (
    <Field label={label} value={filters[name] ?? ''} set={set(name)} />
  );
  const choice = (name: FilterName & keyof EpisodePage['facets'], label: string) => (
    <FacetChoice
      label={label}
      facets={page?.facets[name] ?? []}
      chosen={filters[name] ?? ''}
      choose={set(name)}
    />
  );
  const none = Object.keys(filters).length === 0;
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Field
        id={searchId}
        label="text"
        value={filters.text ?? ''}
        set={set('text')}
        placeholder="search all texts  ( / )"
        isWide
      />
      {choice('when', 'when')}
      {choice('outcome', 'outcome')}
      {choice('success', 'solved')}
      {choice('use', 'use')}
      {choice('slice', 'slice')}
      {choice('tool', 'tool')}
      {field('iteration', 'iteration')}
      {field('task', 'task')}
      {field('rewardFrom', 'reward ≥')}
      {field('rewardTo', 'reward ≤')}
      <button
        type="button"
        disabled={none}
        onClick={() => adjust({ ...route, query: { with: route.query['with'] ?? '' } })}
      >
        clear
      </button>
    </form>
  );
}

interface FacetChoiceProps {
  label: string;
  facets: readonly Facet[];
  chosen: string;
  choose: (value: string) => void;
}

function FacetChoice({ label, facets, chosen, choose }: FacetChoiceProps) {
  if (facets.length < 2 && chosen === '') return null;
  const known = facets.some(({ value }) => value === chosen);
  return (
    <label>
      {label}
      <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">all</option>
        {facets.map(({ value, count }) => (
          <option key={value} value={value}>
            {escapeUnseen(value)} ({count.toLocaleString('en')})
          </option>
        ))}
        {!known && chosen !== '' && <option value={chosen}>{escapeUnseen(chosen)} (0)</option>}
      </select>
    </label>
  );
}
