/** How a program trades time for memory. Apart from the programs, so that public types need no TensorFlow.js. */
export interface ProgramMemory {
  /** `blocks` computes each layer a second time going back, instead of keeping what its gradient needs. */
  recompute: 'none' | 'blocks';
  /** Most bytes of logits held at once. */
  logitBytes: number;
}
