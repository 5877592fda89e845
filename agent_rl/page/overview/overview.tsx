import { useMemo, useState } from 'preact/hooks';

import type { RunFacts, RunHead, TaskRow } from '../../runs/view/api.ts';
import type { Chart } from '../../runs/charts/chart.ts';
import { metricsOf, type ShownRun } from '../../runs/charts/chart-lines.ts';
import { chartGroups } from '../../runs/charts/chart-specs.ts';
import type { Look } from '../../runs/charts/curves.ts';
import { ChartFigure, type ChartLook, Cursor } from '../charts/chart.tsx';
import { Differences } from '../compare/differences.tsx';
import { noMetrics } from '../data/metric-table.ts';
import { useAnswer, useOwnAnswer } from '../data/use-answer.ts';
import { useMetrics } from '../data/use-metrics.ts';
import { Problem } from '../shell/problem.tsx';
import { ChartControls } from './chart-controls.tsx';
import { GroupOfCharts } from './group-of-charts.tsx';
import { OtherMetrics } from './other-metrics.tsx';
import { RunFigures } from './run-figures.tsx';
import { sliceLines } from './slice-lines.ts';
import { SliceTable } from './slice-table.tsx';

interface OverviewProps {
  current: RunHead;
  /** The current run first. */
  shown: readonly RunHead[];
  colours: ReadonlyMap<string, number>;
}

/** The results and charts of a run, and of the runs overlaid on it. */
export function Overview({ current, shown, colours }: OverviewProps) {
  const [smoothing, setSmoothing] = useState(0);
  const [isLog, setLog] = useState(false);
  const [zoom, setZoom] = useState<Look['zoom']>(null);
  const [cursor] = useState(() => new Cursor());
  const { tables, problems } = useMetrics(shown);
  const runs = useMemo(
    () =>
      shown.flatMap(({ id, name, mode, headline: heldOut, iteration }): ShownRun[] => {
        const table = tables.get(id);
        const run = { name, colour: colours.get(id) ?? 0, heldOut, iteration };
        return table ? [{ ...run, table, isSupervised: mode === 'sft' }] : [];
      }),
    [
      JSON.stringify(shown.map(({ id, iteration, headline }) => [id, iteration, headline])),
      tables,
      colours,
    ],
  );
  const look = { smoothing, isLog, zoom, setZoom, cursor };
  const isIn = runs.some(({ table }) => table !== noMetrics);
  return (
    <div class="overview">
      <RunFigures heads={shown} colours={colours} />
      {shown.slice(1).map((other) => (
        <Differences key={other.id} a={current} b={other} />
      ))}
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
      {!isIn && problems.length === 0 && <p class="waiting">Reading metrics …</p>}
      {isIn &&
        chartGroups.map((group) => (
          <GroupOfCharts key={group.title} group={group} runs={runs} look={look}>
            {group.title === 'Learning' && (
              <Slices current={current} isAlone={shown.length === 1} runs={runs} look={look} />
            )}
          </GroupOfCharts>
        ))}
      {isIn && <OtherMetrics runs={runs} look={look} />}
    </div>
  );
}

interface SlicesProps {
  current: RunHead;
  isAlone: boolean;
  runs: readonly ShownRun[];
  look: ChartLook;
}

/** Success by slice, which the metrics do not contain. */
function Slices({ current, isAlone, runs, look }: SlicesProps) {
  const settled = current.state === 'training' ? current.iteration : current.updatedAt;
  const { answer: facts } = useOwnAnswer<RunFacts>(`/api/runs/${current.id}`, settled);
  const { answer: tasks } = useAnswer<readonly TaskRow[]>(
    current.mode === 'rl' ? `/api/runs/${current.id}/tasks` : null,
    settled,
  );
  const { chart, left } = useMemo(() => {
    const slices = sliceLines(tasks ?? []);
    const title = `Success in training by slice${isAlone ? '' : ` · ${current.name}`}`;
    const drawn: Chart = { title, unit: '', over: 'iteration', isShare: true, lines: slices.lines };
    return { chart: drawn, left: slices.left };
  }, [tasks, isAlone, current.name]);
  const isKnown = metricsOf({ title: '', metrics: ['eval/group/*'] }, runs[0]?.table ?? noMetrics);
  return (
    <>
      {chart.lines.length > 1 && (
        <ChartFigure
          chart={chart}
          meaning="For each slice, the share of this run's training episodes that solved their task, with Wilson 95 % intervals as if attempts were independent"
          look={look}
        />
      )}
      {left > 0 && <p class="note">{left} smaller slices are not shown. See Tasks.</p>}
      {isKnown.length === 0 && (
        <SliceTable slices={facts?.slices ?? []} of={isAlone ? null : current.name} />
      )}
    </>
  );
}
