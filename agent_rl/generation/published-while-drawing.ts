import { AgentRlError } from '../core/errors.ts';

/** A turn never mixes two versions of the weights. */
export const publishedWhileDrawing = (): AgentRlError =>
  new AgentRlError(
    'GENERATION_FAILED',
    'New weights were published while tokens were being sampled. Wait for the rollouts to end first.',
  );
