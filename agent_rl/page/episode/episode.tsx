import { useState } from 'preact/hooks';

import type { EpisodeWhole, RunHead } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { useOwnAnswer } from '../data/use-answer.ts';
import { hashOf, type Route, within } from '../routing/route.ts';
import { adjust, go } from '../routing/use-route.ts';
import { useKeys } from '../shell/keys.ts';
import { Problem } from '../shell/problem.tsx';
import { Conversation } from './conversation.tsx';
import { Elsewhere } from '../tasks/elsewhere.tsx';
import { EpisodeHead } from './episode-head.tsx';
import { EpisodeRecord } from './record.tsx';
import { Siblings } from './siblings.tsx';
import { TokenView } from './token-view.tsx';
import { type Chosen, TurnTree } from './turn-tree.tsx';
import { Verdict } from './verdict.tsx';

const parts = ['conversation', 'tokens', 'siblings', 'record'] as const;

interface EpisodeProps {
  run: RunHead;
  runs: readonly RunHead[];
  route: Route;
  /** Id of the episode, as in the address. */
  id: string;
}

/** One episode. */
export function Episode({ run, runs, route: given, id }: EpisodeProps) {
  const route = { ...given, run: run.id };
  const [isWhole, setWhole] = useState(false);
  const { answer: whole, problem } = useOwnAnswer<EpisodeWhole>(
    `/api/runs/${run.id}/episodes/${id}${isWhole ? '?whole=1' : ''}`,
  );
  const [chosen, choose] = useState<Chosen>();
  const part = parts.find((one) => one === route.query['view']) ?? 'conversation';
  const show = (one: string) => () =>
    adjust({ ...route, query: { ...route.query, view: one === 'conversation' ? '' : one } });
  const { view: _, colour: __, ...filters } = route.query;
  const list = within(route, { view: 'episodes', query: filters });
  const other = (to: string | null | undefined): (() => void) | undefined =>
    to ? () => go({ ...route, item: to }) : undefined;
  useKeys({
    Escape: () => go(list),
    '[': other(whole?.previous),
    ']': other(whole?.next),
    c: show('conversation'),
    t: show('tokens'),
    s: show('siblings'),
    r: show('record'),
  });
  if (whole === undefined)
    return (
      <div class="episode">
        <a href={hashOf(list)}>← episodes</a>
        <Problem text={problem} />
        {problem === undefined && <p class="waiting">Reading the episode …</p>}
      </div>
    );
  return (
    <div class="episode">
      <EpisodeHead whole={whole} route={route} list={list} />
      {whole.cut.length > 0 && (
        <p class="note">
          {countText(whole.cut.length, 'very long text')} shortened.{' '}
          <button type="button" onClick={() => setWhole(true)}>
            Show in full (
            {whole.cut.reduce((sum, { characters }) => sum + characters, 0).toLocaleString('en')}{' '}
            characters)
          </button>
        </p>
      )}
      <div class="parts" role="tablist" aria-label="Parts of the episode">
        {parts.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === part}
            aria-controls="episode-part"
            onClick={show(one)}
          >
            {one}
            {one === 'siblings' && ` (${whole.siblings.length})`}
          </button>
        ))}
      </div>
      <div class={part === 'siblings' ? 'columns wide' : 'columns'}>
        <div id="episode-part" role="tabpanel" aria-labelledby={`tab-${part}`}>
          {whole.sequences.length > 1 && (part === 'conversation' || part === 'tokens') && (
            <TurnTree turns={whole.turns} chosen={chosen} choose={choose} />
          )}
          {part === 'conversation' && <Conversation whole={whole} turn={chosen?.turn} />}
          {part === 'tokens' && (
            <TokenView whole={whole} route={route} chosen={chosen} choose={choose} />
          )}
          {part === 'siblings' && <Siblings whole={whole} route={route} />}
          {part === 'record' && <EpisodeRecord whole={whole} />}
        </div>
        <aside aria-label="Verdict and other episodes of the task">
          <Verdict record={whole.record} />
          <section class="card" aria-label="Other episodes of the task">
            <h3>
              <a
                href={hashOf(
                  within(route, { view: 'tasks', item: encodeURIComponent(whole.row.taskId) }),
                )}
              >
                Other episodes of the task
              </a>
            </h3>
            <Elsewhere
              taskId={whole.row.taskId}
              runs={runs}
              except={whole.row.id}
              of={run.id}
              most={12}
              route={route}
            />
          </section>
        </aside>
      </div>
    </div>
  );
}
