import { useState } from 'preact/hooks';

import type { Timeline, TimelineSpan } from '../../runs/view/api.ts';
import { colourClass } from '../../runs/charts/palette.ts';
import { formatSeconds } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';

const [width, height] = [1000, 14];

/** What each thread did during an iteration. */
export function TimelineTracks({ tracks }: { tracks: NonNullable<Timeline['tracks']> }) {
  const [span, setSpan] = useState<TimelineSpan | null>(null);
  const all = tracks.flatMap(({ spans }) => spans);
  const from = all.reduce((least, { start }) => Math.min(least, start), 0);
  const end = all.reduce(
    (most, { start, seconds }) => Math.max(most, start + seconds),
    from + 1e-9,
  );
  const names = [...new Set(all.map(({ name }) => name))];
  const scale = width / (end - from);
  return (
    <div class="timeline">
      {tracks.map(({ name, spans, leftOut }) => (
        <div key={name} class="track">
          <span class="name">{escapeUnseen(name)}</span>
          <svg
            viewBox={`0 0 ${width} ${height}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${escapeUnseen(name)}: ${spans.length} spans`}
            onMouseLeave={() => setSpan(null)}
          >
            {spans.map((one, at) => (
              <rect
                key={at}
                class={colourClass(names.indexOf(one.name))}
                x={(one.start - from) * scale}
                y={1}
                width={Math.max(0.5, one.seconds * scale)}
                height={height - 2}
                onMouseOver={() => setSpan(one)}
              />
            ))}
          </svg>
          {leftOut > 0 && <small>{leftOut.toLocaleString('en')} more spans are not shown</small>}
        </div>
      ))}
      <p class="note" role="status">
        {span === null
          ? `0 to ${formatSeconds(end - from)}`
          : `${escapeUnseen(span.name)}: ${formatSeconds(span.seconds)}, from ${formatSeconds(span.start - from)}`}
      </p>
    </div>
  );
}
