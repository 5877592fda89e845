import { displayMode } from '../../telemetry/index.ts';
import type { TrainingDisplay, TrainingDisplayOptions } from './training-display.ts';
import { TrainingLines } from './training-lines.ts';
import { TrainingPanel } from './training-panel.ts';

/** A panel on a terminal, plain lines elsewhere. */
export const openTrainingDisplay = (options: TrainingDisplayOptions): TrainingDisplay =>
  displayMode(options) === 'panel' ? new TrainingPanel(options) : new TrainingLines(options);
