import type { EpisodePage, EpisodeRow, Facet } from '../../runs/view/api.ts';

type Column = keyof EpisodePage['facets'];
type Test = (row: EpisodeRow) => boolean;

const valuesOf: Readonly<
  Record<Column, (row: EpisodeRow) => readonly (string | undefined | null)[]>
> = {
  set: (row) => [row.set],
  when: (row) => [row.when],
  outcome: (row) => [row.outcome],
  use: (row) => [row.use],
  slice: (row) => [row.slice],
  tool: (row) => row.toolNames,
  iteration: (row) => [String(row.iteration)],
  success: (row) => [String(row.success)],
};

const columns = Object.keys(valuesOf) as readonly Column[];

/**
 * Filters, sorts and pages the episodes of an export as the server does those of a run. Text is looked for in ids and
 * questions alone: the export's list holds no more of the episodes.
 */
export function filterEpisodes(whole: EpisodePage, query: URLSearchParams): EpisodePage {
  const tests = new Map(columns.flatMap((name) => columnTest(name, query.get(name) ?? '')));
  const others = otherTests(query);
  const left = whole.rows.filter((row) => others.every((test) => test(row)));
  const matching = left.filter((row) => [...tests.values()].every((test) => test(row)));
  const sorted = sort(matching, query.get('sort'), query.get('order') === 'desc');
  const offset = Number(query.get('offset') ?? 0);
  const facets = columns.map((name): [Column, readonly Facet[]] => [
    name,
    countValues(
      left.filter((row) => [...tests].every(([of, test]) => of === name || test(row))),
      name,
    ),
  ]);
  return {
    ...whole,
    total: whole.rows.length,
    matching: matching.length,
    rows: sorted.slice(offset, offset + Number(query.get('limit') ?? 100)),
    facets: Object.fromEntries(facets) as EpisodePage['facets'],
  };
}

function columnTest(name: Column, wanted: string): [Column, Test][] {
  if (wanted === '') return [];
  if (name === 'iteration' && wanted.includes('-')) {
    const [from = 0, to = from] = wanted.split('-').map(Number);
    return [[name, ({ iteration }) => iteration >= from && iteration <= to]];
  }
  const allowed = new Set(wanted.split(','));
  return [[name, (row) => valuesOf[name](row).some((value) => allowed.has(value ?? ''))]];
}

function otherTests(query: URLSearchParams): readonly Test[] {
  const task = query.get('task') ?? '';
  const text = query.get('text')?.toLowerCase() ?? '';
  const bound = (name: string): number | undefined =>
    query.get(name) ? Number(query.get(name)) : undefined;
  const [from, to] = [bound('rewardFrom'), bound('rewardTo')];
  return [
    ({ taskId }) => taskId.includes(task),
    ({ id, question }) => `${id}\n${question}`.toLowerCase().includes(text),
    ({ reward }) => from === undefined || (reward !== null && reward >= from),
    ({ reward }) => to === undefined || (reward !== null && reward <= to),
  ];
}

function countValues(rows: readonly EpisodeRow[], name: Column): readonly Facet[] {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const value of valuesOf[name](row))
      if (value !== null && value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count }));
}

/** What was not recorded comes last, whichever way. */
function sort(rows: readonly EpisodeRow[], key: string | null, isDown: boolean) {
  if (key === null || key === '') return rows;
  const valueOf = (row: EpisodeRow): unknown => (row as unknown as Record<string, unknown>)[key];
  return rows.toSorted((one, other) => {
    const [a, b] = [valueOf(one) ?? null, valueOf(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const ascending =
      typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : Number(a) - Number(b);
    return isDown ? -ascending : ascending;
  });
}
