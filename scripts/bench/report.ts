import type { DecodeRate } from './decode.ts';
import type { PeerResult } from './peers.ts';
import { productSeconds, type ProductRate } from './matrix-products.ts';
import { qwen3ShapeMarkdown, type Qwen3ShapeReport } from './qwen3-shape/report.ts';
import type { TrainStepResult } from './train-step.ts';

export interface BenchReport {
  machine: {
    processor: string;
    processors: number;
    threads: number;
    node: string;
    /** Runnable processes over the last minute, before and after measuring. */
    loadBefore: number;
    loadAfter: number;
  };
  train?: TrainStepResult;
  products?: readonly ProductRate[];
  decode?: readonly DecodeRate[];
  peers?: PeerResult;
  qwen3?: Qwen3ShapeReport;
  peakRssBytes: number;
}

/** Goals, each a share; see design.md. */
const goals = { ofFetched: 0.8, ofKernel: 0.65, outside: 0.1, peer: 2, peerFloor: 1.5 };

const fixed = (value: number, digits = 0): string => value.toFixed(digits);
const percent = (share: number): string => `${fixed(100 * share, 1)} %`;
const verdict = (reached: boolean): string => (reached ? 'reached' : 'NOT reached');

/** Tables of a report. */
export function reportText(report: BenchReport): string {
  const { machine, train, products, decode, peers, qwen3, peakRssBytes } = report;
  return [
    `${machine.processor}, ${machine.processors} processors, ${machine.threads} threads, Node ${machine.node}, ` +
      `load ${fixed(machine.loadBefore, 2)} before and ${fixed(machine.loadAfter, 2)} after`,
    ...(train ? trainLines(train) : []),
    ...(products ? productLines(products) : []),
    ...(train && products ? ratioLines(train, products) : []),
    ...(decode ? decodeLines(decode) : []),
    ...(peers ? peerLines(peers, train) : []),
    ...(peers && products ? peerBound(peers, productSeconds(products)) : []),
    ...(qwen3 ? ['', qwen3ShapeMarkdown(qwen3), ''] : []),
    `Peak resident memory of this process ${fixed(peakRssBytes / 2 ** 20)} MiB`,
    '',
  ].join('\n');
}

const trainLines = (train: TrainStepResult): string[] => [
  '',
  `Training step, ${fixed(train.parameters / 1e6, 1)} M parameters, ${train.tokens} tokens, median of ${train.seconds.length}`,
  `  ${fixed(train.medianS, 3)} s (program ${fixed(train.programS, 3)}, clipping and AdamW ${fixed(train.optimizerS, 3)}), ` +
    `${fixed(train.tokensPerSecond)} tokens/s, ${fixed(train.gflops)} GFLOP/s`,
  `  all steps: ${train.seconds.map((seconds) => fixed(seconds, 3)).join(' ')} s`,
  `  loss ${fixed(train.losses[0], 3)} -> ${fixed(train.losses[1], 3)}, peak resident ${fixed(train.peakRssBytes / 2 ** 20)} MiB`,
];

const productLines = (products: readonly ProductRate[]): string[] => [
  '',
  `${'Matrix product'.padEnd(36)} ${'fetched'.padStart(9)} ${'kernel'.padStart(9)}  GFLOP/s`,
  ...products.map(
    ({ name, fetchedGflops, kernelGflops }) =>
      `  ${name.padEnd(34)} ${fixed(fetchedGflops).padStart(9)} ${fixed(kernelGflops).padStart(9)}`,
  ),
];

function ratioLines(
  { gflops, medianS }: TrainStepResult,
  products: readonly ProductRate[],
): string[] {
  const best = (rate: (product: ProductRate) => number): number => Math.max(...products.map(rate));
  const line = (name: string, top: number, goal: number): string =>
    `  step / best ${name}: ${fixed(gflops)} / ${fixed(top)} = ${percent(gflops / top)} ` +
    `(goal ${percent(goal)}: ${verdict(gflops / top >= goal)})`;
  return [
    line(
      'fetched',
      best((product) => product.fetchedGflops),
      goals.ofFetched,
    ),
    line(
      'kernel',
      best((product) => product.kernelGflops),
      goals.ofKernel,
    ),
    ...boundLines(
      { gflops, medianS },
      products,
      best(({ fetchedGflops }) => fetchedGflops),
    ),
  ];
}

/** What the runtime's matrix products leave for everything else: no other change can go below their time. */
function boundLines(
  { gflops, medianS }: Pick<TrainStepResult, 'gflops' | 'medianS'>,
  products: readonly ProductRate[],
  bestFetched: number,
): string[] {
  const alone = productSeconds(products);
  const goalS = (gflops * medianS) / (goals.ofFetched * bestFetched);
  return [
    `  its products alone, at their kernels' rates: ${fixed(alone, 3)} s = ${percent(alone / medianS)} of the step; ` +
      `the goal of ${percent(goals.ofFetched)} is ${fixed(goalS, 3)} s and leaves ${fixed(goalS - alone, 3)} s for the rest`,
  ];
}

const decodeLines = (decode: readonly DecodeRate[]): string[] => [
  '',
  `${'Decoding: batch'.padEnd(16)} ${'tokens/s'.padStart(9)} ${'ms/step'.padStart(9)} outside the runtime`,
  ...decode.map(
    ({ batch, tokensPerSecond, msPerStep, outsideShare }) =>
      `  ${String(batch).padEnd(14)} ${fixed(tokensPerSecond).padStart(9)} ${fixed(msPerStep, 2).padStart(9)} ${percent(outsideShare)}` +
      (batch === 16
        ? ` (goal <= ${percent(goals.outside)}: ${verdict(outsideShare <= goals.outside)})`
        : ''),
  ),
];

function peerLines({ version, threads, variants }: PeerResult, train?: TrainStepResult): string[] {
  return [
    '',
    `PyTorch ${version}, ${threads} threads, the same step with AdamW and clipping`,
    ...variants.map(({ name, medianS, error }) => {
      if (medianS === undefined)
        return `  ${name.padEnd(22)} failed: ${error ?? 'no reason given'}`;
      const ratio = train === undefined ? undefined : medianS / train.medianS;
      const judged =
        ratio === undefined || name !== 'eager fp32'
          ? ''
          : ` (floor ${goals.peerFloor}: ${verdict(ratio >= goals.peerFloor)}, goal ${goals.peer}: ${verdict(ratio >= goals.peer)})`;
      return `  ${name.padEnd(22)} ${fixed(medianS, 3)} s${ratio === undefined ? '' : `, ours is ${fixed(ratio, 2)} x as fast`}${judged}`;
    }),
  ];
}

/** Whether the floor against PyTorch lies above or below the time of our matrix products alone. */
function peerBound({ variants }: PeerResult, aloneS: number): string[] {
  const eagerS = variants.find(({ name }) => name === 'eager fp32')?.medianS;
  if (eagerS === undefined) return [];
  return [
    `  the floor of ${goals.peerFloor} is ${fixed(eagerS / goals.peerFloor, 3)} s, our products alone take ${fixed(aloneS, 3)} s`,
  ];
}
