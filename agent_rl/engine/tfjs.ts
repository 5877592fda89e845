import tfjs from '@tensorflow/tfjs';
import { registerMissingGradients } from './missing-gradients.ts';

// Production mode silences the advice tfjs prints on stderr when its `cpu` backend first runs.
tfjs.enableProdMode();
registerMissingGradients();

/** TensorFlow.js with every gradient the project uses registered, loaded without its banner. */
export { tfjs };
