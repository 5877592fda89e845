import type { Dispatcher } from 'undici';

import { AttemptController } from './whole-body.ts';

/** Lets a request start when it may, and no sooner. */
export interface StartGate {
  /** Calls `begin` when there is room. @throws the signal's reason when it is aborted while waiting. */
  start(begin: () => void, signal: AbortSignal): Promise<void>;
}

/** Puts every attempt, a repeated one too, through a gate. */
export const gated =
  (gate: StartGate, signal: AbortSignal): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (request, handler) => {
    gate
      .start(() => void dispatch(request, handler), signal)
      .catch((error: Error) => {
        const controller = new AttemptController(() => {});
        // It never began and is not to be repeated.
        controller.abort(error);
        handler.onResponseError?.(controller, error);
      });
    return true;
  };
