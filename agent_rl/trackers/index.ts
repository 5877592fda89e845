import { MlflowTracker } from './mlflow/mlflow-tracker.ts';
import { TensorBoardTracker } from './tensorboard/tensorboard-tracker.ts';
import { WandbTracker } from './wandb/wandb-tracker.ts';

/** The trackers that come with the package. */
export const builtinTrackers = [TensorBoardTracker, MlflowTracker, WandbTracker] as const;
