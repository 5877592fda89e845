import { jobs } from '../jobs/jobs.ts';
import { ownerOfStrays, StrayFailure, type StrayKind } from '../core/stopping/stray-failure.ts';
import { redactor } from '../telemetry/redact.ts';
import { consoleText } from '../telemetry/terminal/console-text.ts';
import { takeDown } from '../telemetry/terminal/taken-down.ts';
import type { Command } from './command.ts';
import { interrupted, runFailed } from './exit-code.ts';
import { tuneV8 } from './tune-v8.ts';
import { lastingStream } from './lasting-stream.ts';
import { main } from './main.ts';

/** A job stopped by a stray failure has this long to reach a safe place: an update and a checkpoint. */
const longestStopS = 300;
/** One Ctrl-C may arrive twice: from the terminal, and from what started the program, such as npx or timeout. */
const samePressMs = 1000;
/** A command that ends this soon after the reader of its results left, as `agent-rl plugins | head`, says nothing of it. */
const quietEndMs = 1000;
/** What a plugin left running has this long to end on its own. */
const longestEndS = 5;

/**
 * Runs a program on the process's own arguments and streams and sets its exit code.
 *
 * The first Ctrl-C asks the job to end at its next safe place; the second ends the process at once. A failure that
 * nothing caught ends the job in the same way, and the exit code is 1. A reader of stdout or stderr who leaves ends
 * nothing: a training goes on.
 */
export async function runProgram(programName: string, only?: Command): Promise<void> {
  tuneV8();
  const controller = new AbortController();
  const { signal } = controller;
  let over = false;
  let askedMs = 0;
  const stop = (name: NodeJS.Signals): void => {
    if (signal.aborted) {
      if (performance.now() - askedMs > samePressMs) endBy(name);
      return;
    }
    askedMs = performance.now();
    process.stderr.write(
      '\nStopping at the next safe point. Press Ctrl-C again to stop immediately.\n',
    );
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  onStrayFailure((failure) => {
    process.exitCode = runFailed;
    const what = consoleText(redactor()(failure.message));
    process.stderr.write(
      `UNEXPECTED: ${what}.${over ? '' : ' Stopping at the next safe point.'}\n`,
    );
    if (signal.aborted || over) return;
    controller.abort(failure);
    setTimeout(() => process.exit(runFailed), 1000 * longestStopS).unref();
  });
  // Nothing is left to run, and the job has not ended: it waits for something that never happens.
  process.on('beforeExit', () => {
    if (over) return;
    process.stderr.write(
      'UNEXPECTED: The job waits for a promise that can no longer settle, usually in a plugin. Add a timeout to what the plugin awaits, or reject the promise on failure.\n',
    );
    process.exit(runFailed);
  });
  const stderr = lastingStream(process.stderr, () => undefined);
  const tellLost = (): void => {
    if (over) return;
    stderr.write('stdout was closed; further output to it is lost.\n');
  };
  const stdout = lastingStream(process.stdout, () => {
    setTimeout(tellLost, quietEndMs).unref();
  });
  const code = await main(process.argv.slice(2), {
    jobs,
    io: { stdin: () => process.stdin, stdout, stderr, signal },
    programName,
    only,
  });
  over = true;
  process.exitCode = code;
  process.off('SIGINT', stop).off('SIGTERM', stop);
  await Promise.all([process.stdout, process.stderr].map(written));
  // After a stop, what the job had begun to open is not waited for.
  if (code === interrupted) process.exit();
  setTimeout(leave, 1000 * longestEndS).unref();
}

/** Reports every failure of this process that nothing caught, instead of Node, which would end the process at once. */
function onStrayFailure(report: (failure: StrayFailure) => void): void {
  let last = '';
  const take =
    (kind: StrayKind) =>
    (thrown: unknown): void => {
      const failure = new StrayFailure(kind, thrown);
      const owner = ownerOfStrays();
      if (owner !== undefined) {
        owner(failure);
        return;
      }
      // Reported once: where reporting is what fails, such as writing to a closed pipe, it would never end.
      if (failure.message === last) return;
      last = failure.message;
      report(failure);
    };
  process.on('unhandledRejection', take('rejection')).on('uncaughtException', take('exception'));
}

/** Ends as the signal itself would: an orderly exit takes threads down in the middle of native work, which aborts. */
function endBy(name: NodeJS.Signals): void {
  takeDown();
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}

function leave(): void {
  process.stderr.write(
    'A timer, socket or process, usually of a plugin, is still active. Exiting anyway.\n',
  );
  process.exit();
}

const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });
