import { percentText, visibleControls } from '../../telemetry/index.ts';
import type { Verdict } from './checks/check.ts';
import type { Finding } from './checks/run-checks.ts';
import type { RunEvidence } from './evidence/run-evidence.ts';

const words: Readonly<Record<Verdict, string>> = {
  wrong: 'WRONG',
  suspicious: 'suspicious',
  unknown: 'not measured',
  ok: 'ok',
};

/** The whole list: troubles with their evidence, the rest in a line each. */
export const findingsText = (findings: readonly Finding[], run: string): string =>
  visibleControls(
    [countsText(findings), ...findings.map((finding) => findingText(finding, run))].join('\n'),
  );

function countsText(findings: readonly Finding[]): string {
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const [wrong, suspicious] = [count('wrong'), count('suspicious')];
  return wrong + suspicious === 0
    ? `Nothing of ${findings.length} causes keeps it from learning`
    : `${wrong} wrong, ${suspicious} suspicious of ${findings.length} causes; what stands first may be why the rest is as it is`;
}

function findingText({ verdict, asks, check, says, ...more }: Finding, run: string): string {
  const { evidence = [], tries = [], episode } = more;
  return [
    `  ${words[verdict].padEnd(13)} ${asks} ${says} [${check}]`,
    ...evidence.map((one) => `${indent}${one}`),
    ...tries.map((one) => `${indent}try: ${one}`),
    ...(episode === undefined
      ? []
      : [`${indent}look at: agent-rl show ${run} --episode ${episode}`]),
  ].join('\n');
}

const indent = ' '.repeat(16);

const rate = (value: number | undefined): string =>
  value === undefined ? 'not measured' : percentText(value);

/** What the run did, in a line. */
export function headText({ series, episodes }: RunEvidence, name: string): string {
  const { length } = series.iterations;
  return [
    `Run ${visibleControls(name)}: ${length} iterations; success ${rate(series.early('rollout/successRate'))} in the first quarter, ${rate(series.late('rollout/successRate'))} in the last`,
    ...(episodes === undefined
      ? ['No training episode is recorded: only metrics are looked at.']
      : []),
    ...(episodes !== undefined && !episodes.learnedRecorded
      ? [
          'The run has no trajectories/learned.jsonl, as those of earlier versions: what the update made of single episodes is not known.',
        ]
      : []),
  ].join('\n');
}
