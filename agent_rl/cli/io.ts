import { redactDeep, redactor } from '../telemetry/redact.ts';

/** What a person types, or what is piped in. */
export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

/** What a command reads from and writes to, so that tests can stand in. */
export interface Io {
  /** Opened only where something is read. */
  stdin?: () => Input;
  /** Results. */
  stdout: { write(text: string): unknown; isTTY?: boolean };
  /** Logs, progress and errors. */
  stderr: { write(text: string): unknown };
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/** Shows results, without secrets, as text on stdout; with `--json`, stdout is for JSON alone and text goes to stderr. */
export const printer =
  ({ stdout, stderr }: Io, json: boolean) =>
  (text: string): void => {
    const clean = redactor()(text);
    (json ? stderr : stdout).write(clean.endsWith('\n') ? clean : `${clean}\n`);
  };

export const writeJson = ({ stdout }: Io, value: unknown): void => {
  stdout.write(`${JSON.stringify(redactDeep(value, redactor()), undefined, 2)}\n`);
};
