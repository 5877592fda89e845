import { useState } from 'preact/hooks';

import type { EpisodeWhole } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { OutcomeMark, rewardText } from '../episodes/episode-columns.tsx';
import { hashOf, type Route, within } from '../routing/route.ts';
import { TokenStretch } from './token-stretch.tsx';

interface SiblingColumnProps {
  whole: EpisodeWhole;
  /** How many tokens the whole group begins with. */
  common: number;
  /** The first token that differs from the open episode; null if none does, undefined if they were not compared. */
  partsAt: number | null | undefined;
  isThis: boolean;
  route: Route;
}

/** One episode of a group, from the token where the group diverges. */
export function SiblingColumn({ whole, common, partsAt, isThis, route }: SiblingColumnProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const { row, sequences } = whole;
  const [tokens] = sequences;
  const to = within(route, {
    view: 'episodes',
    item: row.id,
    query: { ...route.query, view: 'siblings' },
  });
  return (
    <article class={isThis ? 'sibling this' : 'sibling'}>
      <header>
        <h3>
          {isThis ? `sample ${row.sample}: this one` : <a href={hashOf(to)}>sample {row.sample}</a>}
        </h3>
        <p>
          <OutcomeMark row={row} />
        </p>
        <p>
          reward <b>{rewardText(row.reward)}</b>, advantage <b>{rewardText(row.advantage)}</b>
        </p>
        <p class="note">
          {isThis ? countText(tokens?.ids.length ?? 0, 'token') : partsText(partsAt)}
        </p>
      </header>
      <button
        type="button"
        class="fold"
        aria-expanded={isUnfolded}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        {isUnfolded ? '▾' : '▸'} {countText(common, 'shared token')}
      </button>
      {tokens && isUnfolded && <TokenStretch tokens={tokens} from={0} to={common} partsAt={null} />}
      {tokens && (
        <TokenStretch
          tokens={tokens}
          from={common}
          to={tokens.ids.length}
          partsAt={isThis ? common : (partsAt ?? null)}
        />
      )}
    </article>
  );
}

function partsText(partsAt: number | null | undefined): string {
  if (partsAt === undefined) return 'not compared: the group is too large';
  return partsAt === null ? 'identical' : `diverges at token ${partsAt}`;
}
