/** A tensor of the engine that trains. A loss only passes it to `LossOps`; its numbers are not there yet when the loss is traced. */
export interface LossTensor {
  /** As it was recorded; batches of other sizes run the same program, so that no number of the loss may depend on it. */
  readonly shape: readonly number[];
}

/** A tensor, or one number for all its places. */
export type LossOperand = LossTensor | number;

/** One tensor in, one of its shape out. */
export type LossOpOfOne = (x: LossTensor) => LossTensor;
/** Two operands in, one tensor out. */
export type LossOpOfTwo = (a: LossOperand, b: LossOperand) => LossTensor;

/**
 * What a loss computes with, place by place on tensors [N]. Everything is differentiated but `stopGradient` and
 * comparisons. The loss runs once, when its program is recorded: a branch on a number of a tensor is not possible,
 * `where` takes its place.
 */
export interface LossOps {
  readonly add: LossOpOfTwo;
  readonly sub: LossOpOfTwo;
  readonly mul: LossOpOfTwo;
  readonly div: LossOpOfTwo;
  readonly neg: LossOpOfOne;
  readonly exp: LossOpOfOne;
  /** Natural. */
  readonly log: LossOpOfOne;
  readonly abs: LossOpOfOne;
  readonly sqrt: LossOpOfOne;
  readonly square: LossOpOfOne;
  readonly sigmoid: LossOpOfOne;
  readonly tanh: LossOpOfOne;
  readonly minimum: LossOpOfTwo;
  readonly maximum: LossOpOfTwo;
  /** Within [low, high]; no gradient outside. */
  readonly clip: (x: LossTensor, low: number, high: number) => LossTensor;
  readonly less: LossOpOfTwo;
  readonly greater: LossOpOfTwo;
  readonly and: (a: LossTensor, b: LossTensor) => LossTensor;
  /** `yes` where the condition holds, else `no`; all of one shape. */
  readonly where: (condition: LossTensor, yes: LossTensor, no: LossTensor) => LossTensor;
  /** Of the shape of another. */
  readonly zerosLike: LossOpOfOne;
  /** The same values, through which no gradient flows. */
  readonly stopGradient: LossOpOfOne;
}
