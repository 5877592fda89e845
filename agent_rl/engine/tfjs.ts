// oxlint-disable-next-line import/default -- a CommonJS package: its default is the whole of it
import tfjs from '@tensorflow/tfjs';

// Production mode silences the advice tfjs prints on stderr when its `cpu` backend first runs.
tfjs.enableProdMode();

/** TensorFlow.js, loaded without its banner. */
export { tfjs };
