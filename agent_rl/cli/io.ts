/** What a command reads from and writes to, so that tests can stand in. */
export interface Io {
  /** Results. */
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Logs, progress and errors. */
  readonly stderr: { write(text: string): unknown };
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Shows results as text on stdout; with `--json`, stdout is for JSON alone and text goes to stderr. */
export const printer =
  ({ stdout, stderr }: Io, json: boolean) =>
  (text: string): void => {
    (json ? stderr : stdout).write(text.endsWith('\n') ? text : `${text}\n`);
  };

export const writeJson = ({ stdout }: Io, value: unknown): void => {
  stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
};
