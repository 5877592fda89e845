import { StrayFailure, type StrayKind } from '../core/stray-failure.ts';

/** Calls `tell` for every failure of this process that nothing caught, in place of Node, which would end it at once. */
export function onStrayFailure(tell: (failure: StrayFailure) => void): void {
  let last = '';
  const take =
    (kind: StrayKind) =>
    (thrown: unknown): void => {
      const failure = new StrayFailure(kind, thrown);
      // Told once: where telling is what fails, such as writing to a closed pipe, it would never end.
      if (failure.message === last) return;
      last = failure.message;
      tell(failure);
    };
  process.on('unhandledRejection', take('rejection')).on('uncaughtException', take('exception'));
}
