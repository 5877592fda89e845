export { abortableStart as unlessStopped, throwIfStopped } from '../core/abort.ts';
