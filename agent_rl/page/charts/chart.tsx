import { h } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { type Chart, describe, shownUnit, valueText } from '../../runs/charts/chart.ts';
import type { Look } from '../../runs/charts/curves.ts';
import { drawChart } from '../../runs/charts/draw-chart.ts';
import { colourClass } from '../../runs/charts/palette.ts';
import { escapeUnseen } from '../text/visible-text.ts';

/** The iteration under the reader's mouse, in all charts at once; null without one. */
export class Cursor {
  readonly #listeners = new Set<(iteration: number | null) => void>();

  /** @returns a function that stops listening */
  listen(listener: (iteration: number | null) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  point(iteration: number | null): void {
    for (const listener of this.#listeners) listener(iteration);
  }
}

export interface ChartLook extends Look {
  setZoom: (zoom: Look['zoom']) => void;
  cursor: Cursor;
}

interface ChartProps {
  chart: Chart;
  meaning: string;
  look: ChartLook;
}

const height = 185;
const margin = { left: 60, right: 8, top: 8, bottom: 38 };
/** A shorter drag is a click. */
const leastDrag = 5;

/** One chart. Its legend shows the values under the cursor, or the last ones. */
export function ChartFigure({ chart, meaning, look }: ChartProps) {
  const { smoothing, isLog, zoom, setZoom, cursor } = look;
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const mark = useRef<SVGLineElement>(null);
  const dragged = useRef<SVGRectElement>(null);
  const start = useRef<number | null>(null);
  const width = useWidth(place);
  const { left, right, top, bottom } = margin;
  const frame = { left, right: width - right, top, bottom: height - bottom };
  const { shapes, axes, notes } = useMemo(() => {
    const drawn = drawChart(chart, frame, { smoothing, isLog, zoom });
    const elements = drawn.shapes.map(({ tag, attributes, text }) =>
      h(tag, attributes, tag === 'text' ? text : text !== undefined && <title>{text}</title>),
    );
    return { ...drawn, shapes: elements };
  }, [chart, width, smoothing, isLog, zoom]);
  useEffect(() => {
    const show = (iteration: number | null): void => {
      writeValues(legend.current, chart, iteration);
      const at = iteration === null ? -1 : axes.x(iteration);
      mark.current?.setAttribute('visibility', at < frame.left ? 'hidden' : 'visible');
      mark.current?.setAttribute('x1', String(at));
      mark.current?.setAttribute('x2', String(at));
    };
    show(null);
    return cursor.listen(show);
  }, [chart, axes, cursor]);
  const placeOf = ({ clientX }: MouseEvent): number =>
    clientX - (place.current?.getBoundingClientRect().left ?? 0);
  const drag = (to: number | null): void => {
    const from = start.current ?? to ?? 0;
    dragged.current?.setAttribute('x', String(Math.min(from, to ?? from)));
    dragged.current?.setAttribute('width', String(Math.abs((to ?? from) - from)));
  };
  const leave = (): void => {
    start.current = null;
    drag(null);
    cursor.point(null);
  };
  const unit = shownUnit(chart);
  return (
    <figure class="chart">
      <figcaption title={meaning}>
        {escapeUnseen(chart.title)} {unit !== '' && <span class="unit">{unit}</span>}
      </figcaption>
      <div
        ref={place}
        class="plot"
        role="img"
        aria-label={escapeUnseen(describe(chart))}
        onMouseDown={(event) => (start.current = placeOf(event))}
        onMouseMove={(event) => {
          cursor.point(Math.round(axes.iterationAt(placeOf(event))));
          drag(placeOf(event));
        }}
        onMouseUp={(event) => {
          const ends = [start.current ?? 0, placeOf(event)].toSorted((a, b) => a - b);
          const [from = 0, to = 0] = ends;
          if (start.current !== null && to - from >= leastDrag)
            setZoom([axes.iterationAt(Math.max(from, frame.left)), axes.iterationAt(to)]);
          leave();
        }}
        onMouseLeave={leave}
        onDblClick={() => setZoom(null)}
      >
        <svg width={width} height={height}>
          {shapes}
          <rect ref={dragged} class="dragged" y={top} height={frame.bottom - top} />
          <line ref={mark} class="axis" y1={top} y2={frame.bottom} visibility="hidden" />
        </svg>
      </div>
      <ul ref={legend} class="legend">
        {chart.lines.map(({ label, colour, dash }) => (
          <li key={label}>
            <span class={`swatch ${colourClass(colour)} dash${dash % 6}`} />
            {escapeUnseen(label)} <span class="value" />
          </li>
        ))}
      </ul>
      {notes.map((text) => (
        <p key={text} class="note">
          {escapeUnseen(text)}
        </p>
      ))}
    </figure>
  );
}

/** The width of an element, now and after each change. */
function useWidth(place: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(300);
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(entry.contentRect.width);
    });
    if (place.current !== null) resized.observe(place.current);
    return () => resized.disconnect();
  }, []);
  return width;
}

/** Writes straight into the document, since the cursor moves over every chart at once. */
function writeValues(
  legend: HTMLUListElement | null,
  chart: Chart,
  iteration: number | null,
): void {
  const outputs = legend?.querySelectorAll('.value') ?? [];
  for (const [line, output] of [...outputs].entries()) {
    const { xs = [], ys = [] } = chart.lines[line] ?? {};
    const at =
      iteration === null ? ys.findLastIndex((value) => value !== null) : xs.indexOf(iteration);
    output.textContent = valueText(ys[at] ?? null, chart);
  }
}
