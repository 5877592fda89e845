import { useEffect, useRef, useState } from 'preact/hooks';

import type { MetricColumns, RunHead } from '../../runs/view/api.ts';
import { appended, lastIteration, type MetricTable, noMetrics } from './metric-table.ts';
import { useAnswers, wordsOf } from './use-answer.ts';

export interface Metrics {
  tables: ReadonlyMap<string, MetricTable>;
  problems: readonly string[];
}

/** The metrics of these runs. While a run trains, only new iterations are requested. */
export function useMetrics(heads: readonly RunHead[]): Metrics {
  const answers = useAnswers();
  const held = useRef(new Map<string, MetricTable>());
  const [metrics, setMetrics] = useState<Metrics>({ tables: held.current, problems: [] });
  const wanted = heads.map(({ id, iteration }) => `${id} ${iteration}`).join();
  useEffect(() => {
    const stop = new AbortController();
    const update = async ({ id, iteration }: RunHead): Promise<string | undefined> => {
      const table = held.current.get(id);
      // A resumed run discards iterations after its checkpoint.
      const isBehind = table !== undefined && lastIteration(table) > iteration;
      const base = isBehind ? undefined : table;
      if (base !== undefined && lastIteration(base) === iteration) return undefined;
      const after = base === undefined || !answers.live ? '' : `?after=${lastIteration(base)}`;
      try {
        const more = await answers.get<MetricColumns>(
          `/api/runs/${id}/metrics${after}`,
          stop.signal,
        );
        held.current.set(id, appended(base ?? noMetrics, more));
        return undefined;
      } catch (cause) {
        return `${id}: ${wordsOf(cause)}`;
      }
    };
    const updateAll = async (): Promise<void> => {
      const problems = await Promise.all(heads.map(update));
      if (stop.signal.aborted) return;
      setMetrics({
        tables: new Map(held.current),
        problems: problems.filter((problem) => problem !== undefined),
      });
    };
    void updateAll();
    return () => stop.abort();
    // Heads are new objects with every event; `wanted` changes only with their ids and iterations.
  }, [wanted, answers]);
  return metrics;
}
