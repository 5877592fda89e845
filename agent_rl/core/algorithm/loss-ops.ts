/**
 * A tensor of the training engine. A loss only passes it to `LossOps`; it has no values yet while the loss is traced.
 */
export interface LossTensor {
  /** The shape while tracing; batches of other sizes run the same program, so the loss must not depend on it. */
  readonly shape: readonly number[];
}

/** A tensor, or one number for all its places. */
export type LossOperand = LossTensor | number;

/** One tensor in, one of its shape out. */
export type LossOpOfOne = (x: LossTensor) => LossTensor;
/** Two operands in, one tensor out. */
export type LossOpOfTwo = (a: LossOperand, b: LossOperand) => LossTensor;

/**
 * The operations of a loss, element by element on tensors [N]. Everything is differentiable except `stopGradient` and
 * comparisons. The loss runs once, when its program is recorded: it cannot branch on a tensor's values, use `where`
 * instead.
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
  /** The same values without a gradient. */
  readonly stopGradient: LossOpOfOne;
}
