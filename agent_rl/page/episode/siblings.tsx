import { useEffect, useState } from 'preact/hooks';

import type { EpisodeWhole } from '../../runs/view/api.ts';
import { useAnswers, wordsOf } from '../data/use-answer.ts';
import type { Route } from '../routing/route.ts';
import { Scroll } from '../shell/scroll.tsx';
import { Problem } from '../shell/problem.tsx';
import { SiblingColumn } from './sibling-column.tsx';

/** The episodes of a group side by side, with their common beginning folded and the first different token marked. */
export function Siblings({ whole, route }: { whole: EpisodeWhole; route: Route }) {
  const ids = whole.siblings.map(({ row }) => row.id).filter((id) => id !== whole.row.id);
  const { episodes, problems } = useEpisodes(whole.run, ids);
  if (ids.length === 0) return <p class="note">The group has no other episode.</p>;
  const all = [whole, ...episodes];
  const common = commonLength(all.map(({ sequences }) => sequences[0]?.ids ?? []));
  return (
    <>
      {problems.map((problem) => (
        <Problem key={problem} text={problem} />
      ))}
      {all.length < ids.length + 1 - problems.length && (
        <p class="waiting">
          Reading siblings: {episodes.length} of {ids.length} …
        </p>
      )}
      <Scroll label="Siblings, side by side">
        <div class="siblings">
          {all.map((one) => (
            <SiblingColumn
              key={one.row.id}
              whole={one}
              common={common}
              partsAt={whole.siblings.find(({ row }) => row.id === one.row.id)?.partsAt}
              isThis={one === whole}
              route={route}
            />
          ))}
        </div>
      </Scroll>
    </>
  );
}

/** The length of the common beginning. */
function commonLength(lists: readonly (readonly number[])[]): number {
  const [first = [], ...others] = lists;
  const parts = first.findIndex((id, at) => others.some((other) => other[at] !== id));
  return parts < 0 ? first.length : parts;
}

function useEpisodes(run: string, ids: readonly string[]) {
  const answers = useAnswers();
  const [found, setFound] = useState<ReadonlyMap<string, EpisodeWhole | string>>(new Map());
  const key = ids.join('\n');
  useEffect(() => {
    const stop = new AbortController();
    setFound(new Map());
    const keep = (id: string, one: EpisodeWhole | string): void => {
      if (!stop.signal.aborted) setFound((before) => new Map(before).set(id, one));
    };
    for (const id of ids)
      answers.get<EpisodeWhole>(`/api/runs/${run}/episodes/${id}`, stop.signal).then(
        (one) => keep(id, one),
        (cause: unknown) => keep(id, `${id}: ${wordsOf(cause)}`),
      );
    return () => stop.abort();
  }, [run, key, answers]);
  const inOrder = ids.map((id) => found.get(id));
  return {
    episodes: inOrder.filter((one): one is EpisodeWhole => typeof one === 'object'),
    problems: inOrder.filter((one) => typeof one === 'string'),
  };
}
