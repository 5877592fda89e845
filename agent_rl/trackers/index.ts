import { TensorBoardTracker } from './tensorboard/tensorboard-tracker.ts';

/** The trackers that come with the package. */
export const builtinTrackers = [TensorBoardTracker] as const;
