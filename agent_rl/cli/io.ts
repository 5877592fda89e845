import { redactDeep, redactor } from '../telemetry/redact.ts';
import { consoleText } from '../telemetry/terminal/console-text.ts';
import { wrapLines } from '../telemetry/terminal/wrap-lines.ts';
import { visibleControls } from '../telemetry/visible-controls.ts';

/** What a person types, or what is piped in. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

/** What a command reads from and writes to, so that tests can stand in. */
export interface Io {
  /** Opened only where something is read. */
  stdin?: () => Input;
  /** Results. */
  stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number | undefined };
  /** Logs, progress and errors. */
  stderr: { write(text: string): unknown };
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/**
 * Shows results, without secrets, as text on stdout; with `--json`, stdout is for JSON alone and text goes to stderr.
 *
 * @param colored the text has colours, and nothing else that acts on a terminal
 * @param fits lines are wrapped to a terminal; a file or a pipe has a line for each line
 */
export const printer =
  ({ stdout, stderr }: Io, json: boolean, { colored = false, fits = false } = {}) =>
  (text: string): void => {
    const clean = redactor()(text);
    const shown = colored ? clean : visibleControls(clean);
    const columns = fits && !json && stdout.isTTY === true ? (stdout.columns ?? 0) : 0;
    const lines = columns === 0 ? shown : wrapLines(shown, columns);
    (json ? stderr : stdout).write(lines.endsWith('\n') ? lines : `${lines}\n`);
  };

/** An error without secrets; plugins, servers and models have a say in what it is called. */
export const writeError = ({ stderr }: Io, text: string): void => {
  stderr.write(`${consoleText(redactor()(text))}\n`);
};

export const writeJson = ({ stdout }: Io, value: unknown): void => {
  stdout.write(`${JSON.stringify(redactDeep(value, redactor()), undefined, 2)}\n`);
};
