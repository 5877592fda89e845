import { differenceText, rateText, shareText, strategyText } from '../../runs/evaluation-table.ts';
import { tableText } from '../../telemetry/terminal/table.ts';
import type { StoredEvaluation } from '../../trainer/evaluate.ts';
import type { Comparison } from '../../trainer/success-rate.ts';

/** One model that attempted the tasks. */
export interface EvaluatedModel {
  /** As it was named. */
  name: string;
  evaluation: StoredEvaluation;
  /** Means over the attempts of the total; `null` where none has a verdict. */
  callsMean: number | null;
  sampledTokensMean: number | null;
  /** Its rate less that of the first, task by task; absent of the first, and where no task has a verdict in both. */
  difference?: Comparison;
}

/** A row for each model. Pass@k and avg@k of all samples stand there where tasks were attempted more than once. */
export function modelsTable(models: readonly EvaluatedModel[]): string {
  const first = models[0]?.evaluation;
  const chosen = models.find(({ evaluation }) => evaluation.chosen)?.evaluation.chosen;
  const counts = Object.keys(first?.intervalsAtK ?? {})
    .map(Number)
    .slice(-1);
  const head = [
    'model',
    'success',
    ...(chosen === undefined ? [] : [strategyText(chosen)]),
    ...counts.flatMap((k) => [`pass@${k}`, `avg@${k}`]),
    'calls',
    'tokens',
    'change, points',
  ];
  const rows = models.map(
    ({ name, evaluation, callsMean, sampledTokensMean, difference }, index) => [
      name,
      rateText(evaluation),
      ...(chosen === undefined
        ? []
        : [evaluation.chosen === undefined ? '-' : rateText(evaluation.chosen)]),
      ...counts.flatMap((k) => [
        atKText(evaluation.passAtK[k], evaluation.intervalsAtK[k]?.pass),
        atKText(evaluation.avgAtK[k], evaluation.intervalsAtK[k]?.avg),
      ]),
      meanText(callsMean),
      meanText(sampledTokensMean),
      index === 0 || difference === undefined ? '-' : differenceText(difference),
    ],
  );
  return tableText([head, ...rows]);
}

const atKText = (share: number | undefined, intervals: Parameters<typeof shareText>[1]): string =>
  share === undefined ? '-' : shareText(share, intervals);

const meanText = (mean: number | null): string => (mean === null ? '-' : mean.toFixed(1));
