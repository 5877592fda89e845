import { differenceText, rateText } from '../../../runs/evaluation-table.ts';
import { countText, percentText } from '../../../telemetry/index.ts';
import type { RunState } from '../../../runs/view/api.ts';
import { runState } from '../../../runs/view/run-state.ts';
import type { SuccessRate } from '../../../trainer/success-rate.ts';
import { iterationsOf, type ReportedRun } from '../read/reported-run.ts';
import { counted } from './by-run.ts';
import { spreadText, whole, whyNoMean } from './compared.ts';

/** `23.5 % [17.5, 29.5]`, without how many of how many. */
const rateAlone = (rate: SuccessRate): string => rateText(rate).replace(/^\d+ of \d+ = /, '');

/** What came of the runs, in plain words. */
export function leadOf(runs: readonly ReportedRun[]): string[] {
  const [run] = runs;
  if (run !== undefined && runs.length === 1) return [...resultOf(run), ...endOf(run)];
  const of = (one: ReportedRun): string[] => [
    ...(one.summary === undefined ? resultOf(one) : []),
    ...endOf(one),
  ];
  return [
    severalText(runs),
    ...runs.flatMap((one) => of(one).map((words) => `${one.folder.name}: ${words}`)),
  ];
}

/** Means where they are of the same thing. */
function severalText(runs: readonly ReportedRun[]): string {
  const evaluated = runs.filter((one) => whole(one).before ?? whole(one).after);
  if (evaluated.length === 0) return 'None of these runs has a held-out evaluation in its summary.';
  const left = runs.length - evaluated.length;
  const unevaluated =
    left === 0 ? '' : ` Runs without a summary or without a held-out evaluation in it: ${left}.`;
  const why = whyNoMean(evaluated);
  if (why !== undefined) return `${why}${unevaluated}`;
  const parts = (['before', 'after'] as const).flatMap((when) => {
    const rates = evaluated.flatMap((one) => whole(one)[when]?.successRate ?? []);
    return rates.length === 0
      ? []
      : [`${spreadText(rates, percentText)} ${when === 'before' ? 'before training' : 'after it'}`];
  });
  const means = evaluated.length === 1 ? '' : ': means, with the range in parentheses';
  const who = evaluated.length === 1 ? 'policy of one run' : `policies of ${evaluated.length} runs`;
  return `Of the held-out tasks, the ${who} solved ${parts.join(' and ')}${means}.${unevaluated}`;
}

function resultOf(run: ReportedRun): string[] {
  if (run.isSupervised) return lossText(run);
  const { before, after, difference } = whole(run);
  const n = after?.n ?? before?.n;
  if (run.summary === undefined) return recordedText(run);
  if (n === undefined) return ['The run has no held-out evaluation.'];
  const greedy = run.settings.at('eval.strategy') === 'greedy';
  const samples = greedy ? 1 : Number(run.settings.at('eval.samples') ?? 1);
  const of = samples > 1 ? 'attempts at held-out tasks' : 'held-out tasks';
  const solved = [
    ...(before ? [`${rateAlone(before)} before training`] : []),
    ...(after ? [`${rateAlone(after)} after it`] : []),
  ].join(' and ');
  const changed = difference ? `: a difference of ${differenceText(difference)} points` : '';
  const over = (difference ?? after ?? before)?.interval95;
  const brackets =
    over?.method === 'cluster-bootstrap'
      ? ` Brackets show 95 % intervals by cluster bootstrap; for the ${difference ? 'difference' : 'rate'}, over ${counted(over.clusters)} ${over.over === 'families' ? 'families of tasks' : 'tasks'}.`
      : ' Brackets show 95 % intervals.';
  return [`Of ${counted(n)} ${of}, the policy solved ${solved}${changed}.${brackets}`];
}

const whenText: Readonly<Record<string, string>> = {
  before: 'before training',
  during: 'during training',
  after: 'after training',
  selection: 'on selection tasks',
};

/** Evaluations of a run without a summary, by its episodes. */
function recordedText({ evaluations }: ReportedRun): string[] {
  if (evaluations.length === 0) return ['No evaluation is recorded so far.'];
  const rates = evaluations.map(({ when, iteration, judged, successes, unjudged }) => {
    const rate =
      judged === 0
        ? 'none judged'
        : `${counted(successes)} of ${counted(judged)} = ${percentText(successes / judged)}`;
    const failed =
      unjudged === 0 ? '' : `, plus ${counted(unjudged)} that failed because of the system`;
    return `${rate}${failed}, ${whenText[when] ?? when} (iteration ${iteration})`;
  });
  return [
    `Attempts solved in each evaluation, including slices (from the journal): ${rates.join('; ')}. Without a summary.json there are no intervals.`,
  ];
}

function lossText({ summary, metrics }: ReportedRun): string[] {
  const losses = metrics.flatMap(({ metrics: values }) => values['train/loss'] ?? []);
  const [first, last] = [losses[0], losses.at(-1)];
  if (first === undefined || last === undefined) return ['No step was recorded.'];
  const data =
    summary?.conversations === undefined
      ? ''
      : ` on ${countText(summary.conversations, 'conversation')} with ${countText(summary.tokens ?? 0, 'token')}`;
  return [
    `Supervised training${data}: the loss went from ${first.toFixed(4)} at the first step to ${last.toFixed(4)} at step ${metrics.at(-1)?.iteration ?? 0}. There is no held-out evaluation.`,
  ];
}

/** What is to be known of how it ended. */
function endOf(run: ReportedRun): string[] {
  const { summary } = run;
  const done = countText(iterationsOf(run), run.isSupervised ? 'step' : 'iteration');
  const control = run.settings.at('train.control');
  return [
    ...(summary === undefined
      ? [`The run has no summary.json: ${stateText(run)}. It has ${done} so far.`]
      : []),
    ...staleText(run),
    ...(summary?.verdict && summary.verdict.is !== 'control' ? [summary.verdict.says] : []),
    ...(summary?.interrupted === true ? [`The run was interrupted after ${done}.`] : []),
    ...(typeof control === 'string' && control !== 'none'
      ? [`This run is a control and must not learn (train.control: ${control}).`]
      : []),
  ];
}

const stateTexts: Readonly<Record<RunState, string>> = {
  training: 'it is still running',
  failed: 'it failed',
  interrupted: 'it was interrupted',
  finished: 'it finished',
  worse: 'it got worse',
  unknown: 'it is still running, or ended without writing the file',
};

/** As `agent-rl view` tells it. */
function stateText({ folder }: ReportedRun): string {
  const { state, stateWhy } = runState(folder, undefined);
  return stateWhy === null || state === 'unknown'
    ? stateTexts[state]
    : `${stateTexts[state]} (${stateWhy.replace(/\.$/, '')})`;
}

/** A run that was resumed has the summary of an earlier session until it ends again. */
function staleText({ summary, metrics }: ReportedRun): string[] {
  const last = metrics.at(-1)?.iteration ?? 0;
  return summary?.iterations === undefined || last <= summary.iterations
    ? []
    : [
        `Its summary.json is from an earlier session, which ended at iteration ${summary.iterations}. The run was resumed and has recorded ${last} iterations.`,
      ];
}
