import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { EpisodeTokens, EpisodeWhole } from '../../runs/view/api.ts';
import type { Route } from '../routing/route.ts';
import { adjust } from '../routing/use-route.ts';
import { Problem } from '../shell/problem.tsx';
import { TokenBlocks } from './token-blocks.tsx';
import { scaleOf, tokenClasses, type TokenMode, tokenModes } from './token-modes.ts';
import { TokenTip } from './token-tip.tsx';
import type { SequenceChoice } from './turn-tree.tsx';

/** Tokens added to the page at once. */
const shownWithEach = 6000;

interface TokenViewProps {
  whole: EpisodeWhole;
  route: Route;
}

/** Every token of an episode, one sequence at a time. */
export function TokenView({ whole, route, chosen, choose }: TokenViewProps & SequenceChoice) {
  const { sequences } = whole;
  const at = chosen?.sequence ?? whole.shown;
  const tokens = sequences[at];
  return (
    <>
      {sequences.length > 1 && (
        <label>
          Sequence{' '}
          <select
            value={at}
            onChange={({ currentTarget }) => choose({ sequence: Number(currentTarget.value) })}
          >
            {sequences.map((_, index) => (
              <option key={index} value={index}>
                {index + 1} of {sequences.length}
              </option>
            ))}
          </select>
        </label>
      )}
      {tokens === undefined ? (
        <p class="note">This agent took no turn.</p>
      ) : (
        <SequenceView whole={whole} route={route} tokens={tokens} />
      )}
    </>
  );
}

/** Tokens coloured by their source or by a measured value. */
function SequenceView({ whole, route, tokens }: TokenViewProps & { tokens: EpisodeTokens }) {
  const mode = tokenModes.find((one) => one === route.query['colour']) ?? 'source';
  const [shown, setShown] = useState(shownWithEach);
  const [active, setActive] = useState<number | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const classes = useMemo(() => tokenClasses(tokens, mode), [tokens, mode]);
  const blocks = useMemo(
    () => (
      <TokenBlocks tokens={tokens} classes={classes} end={Math.min(shown, tokens.ids.length)} />
    ),
    [tokens, classes, shown],
  );
  useEffect(() => setActive(null), [tokens]);
  useActiveMark(list.current, active);
  const last = Math.min(shown, tokens.ids.length) - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(last, active === null ? 0 : active + by));
    setActive(to);
    document.getElementById(`token-${to}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <div class="token-view">
      <Problem text={tokens.problem ?? undefined} />
      <ModeChoice whole={whole} tokens={tokens} mode={mode} route={route} />
      <div
        ref={list}
        class="tokens"
        role="listbox"
        tabIndex={0}
        aria-label="Tokens"
        aria-activedescendant={active === null ? undefined : `token-${active}`}
        onKeyDown={onKeyDown}
        onFocus={() => setActive((was) => was ?? 0)}
        onBlur={() => setActive(null)}
        onMouseOver={({ target }) => {
          const at = target instanceof HTMLElement ? target.dataset['at'] : undefined;
          if (at !== undefined) setActive(Number(at));
        }}
        onMouseLeave={() => setActive(null)}
      >
        {blocks}
      </div>
      {active !== null && <TokenTip whole={whole} tokens={tokens} at={active} />}
      {shown < tokens.ids.length && (
        <button type="button" onClick={() => setShown(shown + shownWithEach)}>
          show {Math.min(shownWithEach, tokens.ids.length - shown).toLocaleString('en')} more of{' '}
          {tokens.ids.length.toLocaleString('en')} tokens
        </button>
      )}
    </div>
  );
}

/** Marks the active token in the document itself, so that thousands of others need no update. */
function useActiveMark(list: HTMLElement | null, active: number | null): void {
  useEffect(() => {
    if (active === null || list === null) return undefined;
    const token = document.getElementById(`token-${active}`);
    token?.classList.add('active');
    return () => token?.classList.remove('active');
  }, [list, active]);
}

interface ModeChoiceProps extends TokenViewProps {
  tokens: EpisodeTokens;
  mode: TokenMode;
}

function ModeChoice({ whole, tokens, mode, route }: ModeChoiceProps) {
  const sources = [...new Set(tokens.spans.map(({ source }) => source))];
  const isLearned = tokens.learned !== null;
  return (
    <div class="modes">
      <fieldset>
        <legend>Colour by</legend>
        {tokenModes.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="colour"
              checked={one === mode}
              onChange={() => adjust({ ...route, query: { ...route.query, colour: one } })}
            />{' '}
            {one}
          </label>
        ))}
      </fieldset>
      <ul class="scale" aria-label="Colours">
        {scaleOf(mode, sources).map((step) => (
          <li key={step.class}>
            <span class={`token ${step.class}`}>{step.meaning}</span>
          </li>
        ))}
      </ul>
      {!isLearned && !['source', 'log-probability'].includes(mode) && (
        <p class="note">
          Not recorded:{' '}
          {whole.learned?.meaning ?? 'the run has no record of an update for this episode.'}
        </p>
      )}
    </div>
  );
}
