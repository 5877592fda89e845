import type { EpisodeWhole } from '../../runs/view/api.ts';
import { attemptText, OutcomeMark, rewardText, Use } from '../episodes/episode-columns.tsx';
import { hashOf, type Route } from '../routing/route.ts';
import { Problem } from '../shell/problem.tsx';
import { countText } from '../../telemetry/figures.ts';
import { formatSeconds } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

interface EpisodeHeadProps {
  whole: EpisodeWhole;
  route: Route;
  /** The list that the episode was opened from. */
  list: Route;
}

/** The episode's name, outcome and main figures. */
export function EpisodeHead({ whole, route, list }: EpisodeHeadProps) {
  const { row, previous, next } = whole;
  const step = (label: string, text: string, to: string | null) =>
    to !== null && (
      <a href={hashOf({ ...route, item: to })} aria-label={label}>
        {text}
      </a>
    );
  return (
    <header class="episode-head">
      <nav aria-label="Episodes">
        <a href={hashOf(list)}>← episodes</a>
        {step('previous episode', '‹ previous', previous)}
        {step('next episode', 'next ›', next)}
      </nav>
      <h2>
        {escapeUnseen(row.taskId)} <small>sample {attemptText(row)}</small>
      </h2>
      <dl class="chips">
        <Chip name="outcome">
          <OutcomeMark row={row} />
        </Chip>
        <Chip name="reward">{rewardText(row.reward)}</Chip>
        <Chip name="advantage">{rewardText(row.advantage)}</Chip>
        <Chip name="use">
          <Use row={row} />
        </Chip>
        <Chip name="iteration">{row.iteration}</Chip>
        <Chip name="id">{escapeUnseen(row.id)}</Chip>
        {row.slice !== null && <Chip name="slice">{escapeUnseen(row.slice)}</Chip>}
        <Chip name="turns">{row.turns}</Chip>
        <Chip name="calls">
          {row.calls}
          {row.errors > 0 && `, ${countText(row.errors, 'error')}`}
        </Chip>
        <Chip name="sampled">{countText(row.sampledTokens, 'token')}</Chip>
        <Chip name="time">{formatSeconds(row.seconds)}</Chip>
      </dl>
      {whole.requests !== null && <p class="note">{escapeUnseen(whole.requests)}</p>}
      <Problem text={whole.record.problem ?? undefined} />
    </header>
  );
}

const Chip = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
