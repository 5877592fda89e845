import { Ajv, type ValidateFunction } from 'ajv';

import { Type } from '../../core/typebox.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { RunSummary } from '../summary.ts';

/** `summary.json` of reinforcement learning or of supervised training. */
export type StoredSummary = Partial<RunSummary> & {
  loss?: number | null;
  conversations?: number;
  tokens?: number;
};

const orNull = <Shape extends Parameters<typeof Type.Optional>[0]>(shape: Shape) =>
  Type.Optional(Type.Union([shape, Type.Null()]));
const number = orNull(Type.Number());
const text = orNull(Type.String());
const counts = Type.Optional(Type.Record(Type.String(), Type.Number()));
const bounds = orNull(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }));
const interval = orNull(
  Type.Object({ low: Type.Number(), high: Type.Number(), clusters: number, over: text }),
);

const rate = {
  n: Type.Number(),
  successes: Type.Number(),
  successRate: Type.Union([Type.Number(), Type.Null()]),
  interval95: interval,
  wilson95: bounds,
  failed: number,
  failedShare: number,
  worstCase: bounds,
};
const difference = { difference: Type.Number(), interval95: interval };
const named = <Shape extends Parameters<typeof Type.Record>[1]>(shape: Shape) =>
  Type.Optional(Type.Record(Type.String(), shape));
const evaluation = orNull(
  Type.Object({
    ...rate,
    systemFailures: number,
    passAtK: counts,
    intervalsAtK: named(Type.Object({ pass: Type.Object({ interval95: interval }) })),
    groups: named(Type.Object(rate)),
    environment: counts,
  }),
);

/** What is read of a summary. */
const Summary = Type.Object({
  iterations: Type.Optional(Type.Number()),
  interrupted: Type.Optional(Type.Boolean()),
  sessions: Type.Optional(Type.Number()),
  conversations: Type.Optional(Type.Number()),
  tokens: Type.Optional(Type.Number()),
  wallSeconds: number,
  cpuSeconds: number,
  evaluationCpuSeconds: number,
  trainTokensPerSecond: number,
  decodeTokensPerSecond: number,
  peakRssBytes: Type.Optional(Type.Number()),
  rssScope: Type.Optional(Type.String()),
  maxAbsLogProbGap: number,
  meanAbsLogProbGap: number,
  parameters: number,
  trainedParameters: number,
  sandboxLevel: text,
  weightsSha256: Type.Optional(Type.String()),
  selectionTasks: number,
  verdict: orNull(Type.Object({ is: Type.String(), says: Type.String() })),
  best: orNull(Type.Object({ iteration: Type.Number() })),
  generation: orNull(Type.Object({ sampledTokens: number })),
  sandbox: orNull(Type.Object({ requests: number, repeats: number, incidents: number })),
  outcomes: counts,
  ledger: counts,
  machines: Type.Optional(Type.Array(Type.Object({}))),
  warnings: Type.Optional(Type.Array(Type.String())),
  eval: orNull(
    Type.Object({
      before: evaluation,
      after: evaluation,
      difference: orNull(Type.Object({ ...difference, groups: named(Type.Object(difference)) })),
    }),
  ),
});

let check: ValidateFunction | undefined;

/** The summary of a run, looked at before any of it is used. @throws AgentRlError `CHECKPOINT_INVALID` */
export function checkSummary(
  file: string,
  summary: Readonly<Record<string, unknown>> | undefined,
): StoredSummary | undefined {
  if (summary === undefined) return undefined;
  check ??= new Ajv({ allErrors: false, verbose: true }).compile(Summary);
  if (check(summary)) return summary;
  // Of a choice the first error is of the value itself, those after it of its other forms.
  const { instancePath = '', message = 'is not known', data } = check.errors?.[0] ?? {};
  const key = instancePath.slice(1).replaceAll('/', '.');
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${file} cannot be read: ${key} ${message}, but it is ${(JSON.stringify(data) ?? 'absent').slice(0, 100)}. Restore the file that the run wrote.`,
  );
}
