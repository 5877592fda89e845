import type { LossOps, LossTensor } from '../../core/algorithm/loss-ops.ts';

/** Numbers a loss can compute with; of comparisons 1 or 0. */
export interface PlainTensor extends LossTensor {
  readonly values: readonly number[];
}

export const plainTensor = (values: Iterable<number>): PlainTensor => {
  const all = [...values];
  return { shape: [all.length], values: all };
};

type Operand = PlainTensor | number;

const at = (operand: Operand, place: number): number =>
  typeof operand === 'number' ? operand : operand.values[place]!;

const ofOne =
  (compute: (x: number) => number) =>
  ({ values }: PlainTensor): PlainTensor =>
    plainTensor(values.map(compute));

const ofTwo =
  (compute: (a: number, b: number) => number) =>
  (a: Operand, b: Operand): PlainTensor => {
    const { values } = typeof a === 'number' ? (b as PlainTensor) : a;
    return plainTensor(values.map((_, place) => compute(at(a, place), at(b, place))));
  };

/** The operations of a loss on plain numbers: what it is worth, where its gradient is computed elsewhere. */
export const plainLossOps = {
  add: ofTwo((a, b) => a + b),
  sub: ofTwo((a, b) => a - b),
  mul: ofTwo((a, b) => a * b),
  div: ofTwo((a, b) => a / b),
  neg: ofOne((x) => -x),
  exp: ofOne(Math.exp),
  log: ofOne(Math.log),
  abs: ofOne(Math.abs),
  sqrt: ofOne(Math.sqrt),
  square: ofOne((x) => x * x),
  sigmoid: ofOne((x) => 1 / (1 + Math.exp(-x))),
  tanh: ofOne(Math.tanh),
  minimum: ofTwo(Math.min),
  maximum: ofTwo(Math.max),
  clip: (x: PlainTensor, low: number, high: number) =>
    ofOne((value) => Math.min(Math.max(value, low), high))(x),
  less: ofTwo((a, b) => Number(a < b)),
  greater: ofTwo((a, b) => Number(a > b)),
  and: ofTwo((a, b) => Number(a !== 0 && b !== 0)),
  where: (condition: PlainTensor, yes: Operand, no: Operand) =>
    plainTensor(condition.values.map((is, place) => at(is === 0 ? no : yes, place))),
  zerosLike: ofOne(() => 0),
  stopGradient: (x: PlainTensor) => x,
  // A loss knows tensors only as what it was given.
} as unknown as LossOps;
