import { tfjs } from '../tfjs.ts';
import { batchMatMul } from './matrix-product.ts';
import { transpose, unsortedSegmentSum } from './rows.ts';

/*
 * Three kernels of tfjs's `cpu` backend in plain loops. tfjs computes a segment sum by one pass over all rows for each
 * segment, a transposition through an array of indices for each element, and a product one element at a time: together
 * nine tenths of a training step.
 */

const kernels = {
  UnsortedSegmentSum: unsortedSegmentSum,
  Transpose: transpose,
  BatchMatMul: batchMatMul,
};
let installed = false;

/** Puts them in the place of tfjs's own, once. */
export function installPlainKernels(): void {
  if (installed) return;
  installed = true;
  for (const [kernelName, kernelFunc] of Object.entries(kernels)) {
    tfjs.unregisterKernel(kernelName, 'cpu');
    tfjs.registerKernel({ kernelName, backendName: 'cpu', kernelFunc });
  }
}
