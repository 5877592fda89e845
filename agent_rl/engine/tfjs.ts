import tfjs from '@tensorflow/tfjs';

// Production mode silences the advice tfjs prints on stderr when its `cpu` backend first runs.
tfjs.enableProdMode();

/** TensorFlow.js with every gradient registered, loaded without its banner. */
export { tfjs };
