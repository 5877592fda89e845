import { MlflowTracker } from './mlflow/mlflow-tracker.ts';
import { TensorBoardTracker } from './tensorboard/tensorboard-tracker.ts';

/** The trackers that come with the package. */
export const builtinTrackers = [TensorBoardTracker, MlflowTracker] as const;
