import { table } from '../docs/markdown.ts';
import { fixed, type Machine, machineText, mebibytes } from './bench-run.ts';
import type { DecodeRate } from './step/decode.ts';
import type { PeerResult } from './peers.ts';
import { shapeMarkdown, type ShapeReport } from './model-shape/report.ts';
import type { TrainStepResult } from './step/train-step.ts';

interface BenchReport {
  machine: Machine & { threads: number; device: string };
  train: TrainStepResult | undefined;
  decode: DecodeRate[] | undefined;
  peers: PeerResult | undefined;
  shapes: ShapeReport | undefined;
  peakRssBytes: number;
}

/** A report as Markdown. */
export function reportText(report: BenchReport): string {
  const { machine, train, decode, peers, shapes, peakRssBytes } = report;
  const parts = [
    `${machineText(machine)}, ${machine.device}, ${machine.threads} threads`,
    shapes && shapeMarkdown(shapes),
    train && trainText(train),
    decode && decodeTable(decode),
    peers && train && peerText(peers, train),
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

const decodeTable = (decode: readonly DecodeRate[]): string =>
  table(
    ['Decoding: batch', 'tokens/s', 'ms/step', 'Outside the runtime'],
    decode.map(({ batch, tokensPerSecond, msPerStep, outsideShare }) => [
      String(batch),
      fixed(tokensPerSecond),
      fixed(msPerStep, 2),
      `${fixed(100 * outsideShare, 1)} %`,
    ]),
  );

function peerText({ version, threads, variants }: PeerResult, train: TrainStepResult): string {
  const rows = variants.map(({ name, medianS, error }) =>
    medianS === undefined
      ? [name, `failed: ${error ?? 'no reason given'}`, '']
      : [name, fixed(medianS, 3), `${fixed(medianS / train.medianS, 2)} x as fast`],
  );
  return `PyTorch ${version}, ${threads} threads, the same step with AdamW and clipping\n\n${table(['Variant', 'Median s', 'Ours'], rows)}`;
}
