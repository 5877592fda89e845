import { table } from '../docs/markdown.ts';
import { fixed, type Machine, machineText, mebibytes } from './bench-run.ts';
import type { DecodeRate } from './step/decode.ts';
import { productSeconds, type ProductRate } from './step/matrix-products.ts';
import type { PeerResult } from './peers.ts';
import { qwen3ShapeMarkdown, type Qwen3ShapeReport } from './qwen3-shape/report.ts';
import type { TrainStepResult } from './step/train-step.ts';

export interface BenchReport {
  machine: Machine & { threads: number; device: string };
  train?: TrainStepResult | undefined;
  products?: ProductRate[] | undefined;
  decode?: DecodeRate[] | undefined;
  peers?: PeerResult | undefined;
  /** The same beside processes that compute without a pause. */
  busy?: { loops: number; train: TrainStepResult; peers: PeerResult | undefined } | undefined;
  qwen3?: Qwen3ShapeReport | undefined;
  peakRssBytes: number;
}

/** Goals, each a share; see docs/design/evidence.md. */
const goals = { ofFetched: 0.8, ofKernel: 0.65, outside: 0.1, peer: 2, peerFloor: 1.5 };

const percent = (share: number): string => `${fixed(100 * share, 1)} %`;
const verdict = (reached: boolean): string => (reached ? 'reached' : 'NOT reached');

/** A report as Markdown. */
export function reportText(report: BenchReport): string {
  const { machine, train, products, decode, peers, qwen3, peakRssBytes } = report;
  const parts = [
    `${machineText(machine)}, ${machine.device}, ${machine.threads} threads`,
    train && trainText(train),
    products && productTable(products),
    train && products && ratioText(train, products),
    decode && decodeTable(decode),
    peers && peerText(peers, { train, products }),
    busyText(report),
    qwen3 && qwen3ShapeMarkdown(qwen3),
    `Peak resident memory of this process ${mebibytes(peakRssBytes)}\n`,
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

const trainText = (train: TrainStepResult): string =>
  [
    `Training step, ${fixed(train.parameters / 1e6, 1)} M parameters, ${train.tokens} tokens, median of ${train.seconds.length}`,
    `  ${fixed(train.medianS, 3)} s (program ${fixed(train.programS, 3)}, clipping and AdamW ${fixed(train.optimizerS, 3)}), ` +
      `${fixed(train.tokensPerSecond)} tokens/s, ${fixed(train.gflops)} GFLOP/s`,
    `  all steps: ${train.seconds.map((seconds) => fixed(seconds, 3)).join(' ')} s`,
    `  loss ${train.losses.map((loss) => fixed(loss, 3)).join(' -> ')}, peak resident ${mebibytes(train.peakRssBytes)}`,
  ].join('\n');

const productTable = (products: readonly ProductRate[]): string =>
  table(
    ['Matrix product', 'Fetched GFLOP/s', 'Kernel GFLOP/s'],
    products.map((one) => [one.name, fixed(one.fetchedGflops), fixed(one.kernelGflops)]),
  );

/** The step beside its matrix products: no other change can go below their time. */
function ratioText({ gflops, medianS }: TrainStepResult, products: readonly ProductRate[]): string {
  const fetched = Math.max(...products.map((one) => one.fetchedGflops));
  const kernel = Math.max(...products.map((one) => one.kernelGflops));
  const line = (name: string, top: number, goal: number): string =>
    `Step / best ${name}: ${fixed(gflops)} / ${fixed(top)} = ${percent(gflops / top)} ` +
    `(goal ${percent(goal)}: ${verdict(gflops / top >= goal)})`;
  const alone = productSeconds(products);
  const goalS = (gflops * medianS) / (goals.ofFetched * fetched);
  return [
    line('fetched', fetched, goals.ofFetched),
    line('kernel', kernel, goals.ofKernel),
    `Its products alone, at their kernels' rates: ${fixed(alone, 3)} s = ${percent(alone / medianS)} of the step; ` +
      `the goal of ${percent(goals.ofFetched)} is ${fixed(goalS, 3)} s and leaves ${fixed(goalS - alone, 3)} s for the rest`,
  ].join('\n');
}

const decodeTable = (decode: readonly DecodeRate[]): string =>
  table(
    ['Decoding: batch', 'tokens/s', 'ms/step', 'Outside the runtime'],
    decode.map(({ batch, tokensPerSecond, msPerStep, outsideShare }) => [
      String(batch),
      fixed(tokensPerSecond),
      fixed(msPerStep, 2),
      percent(outsideShare) +
        (batch === 16
          ? ` (goal <= ${percent(goals.outside)}: ${verdict(outsideShare <= goals.outside)})`
          : ''),
    ]),
  );

const eager = 'eager fp32';

const busyRow = (name: string, alone: number | undefined, beside: number | undefined): string[] =>
  alone === undefined || beside === undefined
    ? [name, 'failed', '', '']
    : [name, fixed(alone, 3), fixed(beside, 3), `${fixed(beside / alone, 2)} x`];

/** How much slower a step is beside other work, ours and the peers'. */
function busyText({ busy, train, peers }: BenchReport): string | undefined {
  if (busy === undefined || train === undefined) return undefined;
  const quiet = new Map(peers?.variants.map(({ name, medianS }) => [name, medianS]));
  return table(
    [`Step beside ${busy.loops} busy processes`, 'Alone, s', 'Beside them, s', 'Slower'],
    [
      busyRow('ours', train.medianS, busy.train.medianS),
      ...(busy.peers?.variants ?? []).map(({ name, medianS }) =>
        busyRow(`PyTorch, ${name}`, quiet.get(name), medianS),
      ),
    ],
  );
}

function peerText(
  { version, threads, variants }: PeerResult,
  { train, products }: { train: TrainStepResult | undefined; products: ProductRate[] | undefined },
): string {
  const rows = variants.map(({ name, medianS, error }) => {
    if (medianS === undefined) return [name, `failed: ${error ?? 'no reason given'}`, ''];
    if (train === undefined) return [name, fixed(medianS, 3), ''];
    const ratio = medianS / train.medianS;
    const judged = (share: number): string => `${share}: ${verdict(ratio >= share)}`;
    const verdicts =
      name === eager ? ` (floor ${judged(goals.peerFloor)}, goal ${judged(goals.peer)})` : '';
    return [name, fixed(medianS, 3), `${fixed(ratio, 2)} x as fast${verdicts}`];
  });
  const lines = [
    `PyTorch ${version}, ${threads} threads, the same step with AdamW and clipping\n`,
    table(['Variant', 'Median s', 'Ours'], rows),
  ];
  const eagerS = variants.find(({ name }) => name === eager)?.medianS;
  if (eagerS !== undefined && products !== undefined) {
    const floorS = fixed(eagerS / goals.peerFloor, 3);
    const alone = fixed(productSeconds(products), 3);
    // Whether the floor lies above or below the time of our matrix products alone.
    lines.push(
      `\nThe floor of ${goals.peerFloor} is ${floorS} s, our products alone take ${alone} s`,
    );
  }
  return lines.join('\n');
}
