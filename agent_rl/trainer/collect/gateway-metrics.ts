import { mean, sum } from '../../algorithms/statistics.ts';
import type { Part } from '../../core/rollout.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { inFamily, type NamedNumbers, sumsByName } from '../named-numbers.ts';

/** Metrics of the parts played by external agents; empty without such parts. */
export function gatewayMetrics(parts: readonly Part[]): Metrics {
  const asked = parts.filter(({ requests }) => requests !== undefined);
  const facts = asked.flatMap(({ requests }) => requests ?? []);
  if (facts.length === 0) return {};
  const turns = sum(facts.map((one) => one.turns));
  const named = (of: 'drift' | 'ignored'): NamedNumbers => sumsByName(facts.map((one) => one[of]));
  return {
    'gateway/deliveredShare':
      turns === 0 ? undefined : sum(facts.map(({ delivered }) => delivered)) / turns,
    'gateway/replayed': sum(facts.map(({ replayed }) => replayed)),
    'gateway/sequences': mean(asked.map(({ sequences }) => sequences.length)),
    ...inFamily('gateway/drift', named('drift')),
    ...inFamily('gateway/ignored', named('ignored')),
  };
}
