import { jobs } from '../compose/jobs.ts';
import type { Command } from './command.ts';
import { interrupted } from './exit-code.ts';
import { main } from './main.ts';

/**
 * Runs a program on the process's own arguments and streams and sets its exit code.
 *
 * The first Ctrl-C asks the job to end at its next safe place; the second ends the process at once.
 */
export async function runProgram(programName: string, only?: Command): Promise<void> {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(interrupted);
    process.stderr.write(
      '\nStopping at the next safe place. Press Ctrl-C again to stop at once.\n',
    );
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    process.exitCode = await main(process.argv.slice(2), {
      jobs,
      io: { stdout: process.stdout, stderr: process.stderr, signal: controller.signal },
      programName,
      ...(only === undefined ? {} : { only }),
    });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
