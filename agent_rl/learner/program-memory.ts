/** How a program trades time for memory. */
export interface ProgramMemory {
  /** `blocks` computes each layer a second time going back, instead of keeping what its gradient needs. */
  recompute: 'none' | 'blocks';
  /** Most bytes of logits held at once. */
  logitBytes: number;
}
