import { useMemo, useState } from 'preact/hooks';

import type { RunFacts, RunHead, TaskRow } from '../../runs/view/api.ts';
import { Chart, type ChartLook, type Zoom } from '../charts/chart.tsx';
import { Differences } from '../compare/differences.tsx';
import { noMetrics } from '../data/metric-table.ts';
import { useAnswer, useOwnAnswer } from '../data/use-answer.ts';
import { useMetrics } from '../data/use-metrics.ts';
import { Problem } from '../shell/problem.tsx';
import { ChartControls } from './chart-controls.tsx';
import { chartGroups } from './chart-groups.ts';
import { metricsOf, type ShownRun } from './chart-lines.ts';
import { GroupOfCharts } from './group-of-charts.tsx';
import { heldOutLine } from './held-out.ts';
import { OtherMetrics } from './other-metrics.tsx';
import { RunFigures } from './run-figures.tsx';
import { sliceLines } from './slice-lines.ts';
import { SliceTable } from './slice-table.tsx';

interface OverviewProps {
  current: RunHead;
  /** The current run first. */
  shown: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
  isDark: boolean;
  /** Without the differences of settings: they are shown above. */
  isPlain?: boolean;
}

/** The charts of a run, and of those laid over it. */
export function Overview({ current, shown, colours, isDark, isPlain = false }: OverviewProps) {
  const [smoothing, setSmoothing] = useState(0);
  const [isLog, setLog] = useState(false);
  const [zoom, setZoom] = useState<Zoom>(null);
  const { tables, problems } = useMetrics(shown);
  const runs = useMemo(
    () =>
      shown.flatMap(({ id, name }): ShownRun[] => {
        const table = tables.get(id);
        return table ? [{ id, name, colour: colours.get(id) ?? 0, table }] : [];
      }),
    [shown.map(({ id }) => id).join(), tables, colours],
  );
  const look = { smoothing, isLog, isDark, zoom, setZoom };
  const isIn = runs.some(({ table }) => table !== noMetrics);
  return (
    <div class="overview">
      <RunFigures heads={shown} colours={colours} />
      <ChartControls
        smoothing={smoothing}
        setSmoothing={setSmoothing}
        isLog={isLog}
        setLog={setLog}
        zoom={zoom}
        resetZoom={() => setZoom(null)}
      />
      {problems.map((problem) => (
        <Problem key={problem} text={problem} />
      ))}
      {(isPlain ? [] : shown.slice(1)).map((other) => (
        <Differences key={other.id} a={current} b={other} />
      ))}
      {!isIn && problems.length === 0 && <p class="waiting">Reading metrics …</p>}
      {isIn &&
        chartGroups.map((group) => (
          <GroupOfCharts key={group.title} group={group} runs={runs} look={look}>
            {group.title === 'Learning' && (
              <Success current={current} shown={shown} runs={runs} look={look} />
            )}
          </GroupOfCharts>
        ))}
      {isIn && <OtherMetrics runs={runs} look={look} />}
    </div>
  );
}

interface SuccessProps {
  current: RunHead;
  shown: readonly RunHead[];
  runs: readonly ShownRun[];
  look: ChartLook;
}

/** What the metrics alone do not hold: held-out success from start to end, and success by slice. */
function Success({ current, shown, runs, look }: SuccessProps) {
  const settled = current.state === 'training' ? current.iteration : current.updatedAt;
  const { answer: facts } = useOwnAnswer<RunFacts>(`/api/runs/${current.id}`, settled);
  const { answer: tasks } = useAnswer<readonly TaskRow[]>(
    current.mode === 'rl' ? `/api/runs/${current.id}/tasks` : null,
    settled,
  );
  const heldOut = useMemo(
    () =>
      runs.flatMap((run) => {
        const head = shown.find(({ id }) => id === run.id);
        const line = head && heldOutLine(run, head);
        return line ? [line] : [];
      }),
    [runs, JSON.stringify(shown.map(({ id, iteration, headline }) => [id, iteration, headline]))],
  );
  const slices = useMemo(() => sliceLines(tasks ?? []), [tasks]);
  const isKnown = metricsOf({ title: '', metrics: ['eval/group/*'] }, runs[0]?.table ?? noMetrics);
  return (
    <>
      {heldOut.length > 0 && (
        <Chart
          title="Success on held-out tasks"
          unit=""
          meaning="Share of attempts that solved their task, before training, during it where it was measured, and after; with 95 % intervals"
          lines={heldOut}
          look={look}
        />
      )}
      {slices.lines.length > 0 && (
        <Chart
          title={
            shown.length > 1
              ? `Success in training by slice · ${current.name}`
              : 'Success in training by slice'
          }
          unit=""
          meaning="Share of training episodes that solved their task, by slice, of the run looked at; with Wilson's 95 % intervals, as if attempts were independent"
          lines={slices.lines}
          look={look}
        />
      )}
      {slices.left > 0 && <p class="note">{slices.left} smaller slices: see Tasks</p>}
      {isKnown.length === 0 && (
        <SliceTable summary={facts?.summary ?? null} of={shown.length > 1 ? current.name : null} />
      )}
    </>
  );
}
