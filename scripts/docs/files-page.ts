import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { metricNames } from '../../agent_rl/telemetry/metric-names.ts';
import { code, plain, table } from './markdown.ts';

/** `docs/reference/metrics-and-files.md`: the page as it is, with its table of metrics made anew. */
export function filesPage(): string {
  const file = join(packageRoot(), 'docs', 'reference', 'metrics-and-files.md');
  const metrics = table(
    ['Metric', 'Unit', 'Meaning'],
    Object.entries(metricNames).map(([name, { unit, description }]) => [
      code(name),
      unit,
      plain(description),
    ]),
  );
  return readFileSync(file, 'utf8').replace(/\| Metric \|[^]*?(?=\n\n)/, () => metrics);
}
