import { StrayFailure, type StrayKind } from '../core/stopping/stray-failure.ts';

/** Reports every failure of this process that nothing caught, in place of Node, which would end the process at once. */
export function onStrayFailure(report: (failure: StrayFailure) => void): void {
  let last = '';
  const take =
    (kind: StrayKind) =>
    (thrown: unknown): void => {
      const failure = new StrayFailure(kind, thrown);
      // Reported once: where reporting is what fails, such as writing to a closed pipe, it would never end.
      if (failure.message === last) return;
      last = failure.message;
      report(failure);
    };
  process.on('unhandledRejection', take('rejection')).on('uncaughtException', take('exception'));
}
