import { countText, percentText, visibleControls } from '../../telemetry/index.ts';
import type { Verdict } from '../../runs/signs/check.ts';
import type { Finding } from '../../runs/signs/run-checks.ts';
import type { RecordedEvidence } from '../../runs/signs/run-evidence.ts';
import { leastIterations } from '../../runs/signs/trend.ts';
import type { Unreadable } from '../../runs/episodes/read-lines.ts';

const words: Readonly<Record<Verdict, string>> = {
  wrong: 'WRONG',
  suspicious: 'suspicious',
  unknown: 'not measured',
  ok: 'ok',
};

/** The whole list: troubles with their evidence, the rest in a line each. */
export const findingsText = (
  findings: readonly Finding[],
  run: string,
  iterations: number,
): string =>
  visibleControls(
    [
      countsText(findings, iterations),
      ...findings.map((finding) => findingText(finding, run)),
    ].join('\n'),
  );

function countsText(findings: readonly Finding[], iterations: number): string {
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const [wrong, suspicious, unknown] = [count('wrong'), count('suspicious'), count('unknown')];
  const left = unknown === 0 ? '' : `; ${unknown} more could not be measured`;
  const few =
    iterations < leastIterations
      ? `. The run has ${countText(iterations, 'iteration')} so far; a trend needs ${leastIterations}`
      : '';
  return wrong + suspicious === 0
    ? `All ${findings.length - unknown} checks passed: no known cause keeps the run from learning${left}${few}`
    : `${wrong} wrong, ${suspicious} suspicious of ${findings.length} checks; start with the first, which may cause the others`;
}

function findingText({ verdict, asks, check, says, ...more }: Finding, run: string): string {
  const { evidence = [], tries = [], episode } = more;
  return [
    `  ${words[verdict].padEnd(13)} ${asks} ${says} [${check}]`,
    ...evidence.map((one) => `${indent}${one}`),
    ...tries.map((one) => `${indent}try: ${one}`),
    ...(episode === undefined
      ? []
      : [`${indent}look at: agent-rl runs show ${run} --episode ${episode}`]),
  ].join('\n');
}

const indent = ' '.repeat(16);

const rate = (value: number | undefined): string =>
  value === undefined ? 'not measured' : percentText(value);

/** What the run did, in a line. */
export function headText({ series, episodes, unreadable }: RecordedEvidence, name: string): string {
  const { length } = series.iterations;
  const early = rate(series.early('rollout/successRate'));
  const late = rate(series.late('rollout/successRate'));
  return [
    `Run ${visibleControls(name)}: ${countText(length, 'iteration')}; success ${length < 4 ? `${early} at first, ${late} at last` : `${early} in the first quarter, ${late} in the last`}`,
    ...(episodes === undefined
      ? ['No training episodes are recorded: only metrics were checked.']
      : []),
    ...(episodes !== undefined && !episodes.learnedRecorded
      ? [
          'The run does not record what its updates made of each episode, so the effect of single episodes on the update is unknown.',
        ]
      : []),
    ...leftOutLines(unreadable).map(visibleControls),
  ].join('\n');
}

/** Lines of a run's records that could not be read, with their places; nothing where all could. */
export function leftOutLines({ first, count }: Unreadable): string[] {
  if (count === 0) return [];
  return [
    `Left out: ${countText(count, 'unreadable line')} of the run's records.`,
    ...first.map((place) => `  ${place}`),
    ...(count > first.length ? [`  and ${count - first.length} more`] : []),
  ];
}
