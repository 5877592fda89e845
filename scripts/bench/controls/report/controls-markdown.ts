import type { SeedControls } from '../controls-of-seed.ts';
import { headline } from '../figures.ts';
import { costTable } from './cost-table.ts';
import { legend } from './legend.ts';
import { overlapMarkdown } from './overlap-markdown.ts';
import { sliceTable } from './slice-table.ts';

/** A table for the headline and one for each slice, then cost, overlap and what the rows mean. */
export function controlsMarkdown(results: readonly SeedControls[]): string {
  const slices = new Set(
    results
      .flatMap(({ controls }) => Object.values(controls))
      .flatMap((control) => Object.keys(control?.after.groups ?? {}))
      .toSorted(),
  );
  const [overlap] = results.flatMap((result) => result.overlap ?? []);
  const parts = [
    ...[headline, ...slices].map((slice) => sliceTable(results, slice)),
    ...costTable(results),
    ...(overlap ? [overlapMarkdown(overlap)] : []),
    legend(results).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}
