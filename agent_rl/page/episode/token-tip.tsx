import { useLayoutEffect, useRef } from 'preact/hooks';

import type { EpisodeTokens, EpisodeWhole } from '../../runs/view/api.ts';
import { tokenFacts } from './token-facts.ts';

const gap = 6;

interface TokenTipProps {
  whole: EpisodeWhole;
  tokens: EpisodeTokens;
  at: number;
}

/** Facts about a token, shown beside it. */
export function TokenTip({ whole, tokens, at }: TokenTipProps) {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const token = document.getElementById(`token-${at}`)?.getClientRects()[0];
    const box = tip.current;
    if (token === undefined || box === null) return;
    const isLow = token.bottom + gap + box.offsetHeight > innerHeight;
    const left = Math.max(gap, Math.min(token.left, innerWidth - box.offsetWidth - gap));
    box.style.left = `${left}px`;
    box.style.top = `${isLow ? token.top - gap - box.offsetHeight : token.bottom + gap}px`;
  }, [at, tokens]);
  return (
    <div ref={tip} class="tip" role="status">
      <dl>
        {tokenFacts(whole, tokens, at).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
