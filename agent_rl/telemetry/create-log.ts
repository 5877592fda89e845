import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';

import winston from 'winston';

import { writing } from './atomic-write.ts';
import { redactDeep, type Redact, redactor } from './redact.ts';
import { consoleText } from './terminal/console-text.ts';
import { wrapLines } from './terminal/wrap-lines.ts';
import { visibleControls } from './visible-controls.ts';

const levels = ['error', 'warn', 'info', 'debug'] as const;

type LogLevel = (typeof levels)[number];

/** Facts that go with a message. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** What the framework reports of its work, by level. Secrets of the environment are hidden in all of it. */
export interface Log extends Record<LogLevel, (message: string, facts?: LogFacts) => void> {
  /** What the user is shown elsewhere, a warning unless said otherwise: into the file alone. */
  shown(message: string, level?: LogLevel): void;
  /** Waits until everything is written. Nothing may be logged afterwards. */
  close(): Promise<void>;
}

export interface CreateLogOptions {
  level: LogLevel;
  /** `run.log` of the run. */
  file: string;
  /** What goes to stderr too: all by default; `none` is for callers with a display of their own. */
  console?: 'all' | 'warnings' | 'none';
  redact?: Redact;
}

/** Marks what the console leaves out; as a symbol it is no fact. */
const seen = Symbol('seen');

const factsOf = (info: winston.Logform.TransformableInfo): string => {
  const { level: _level, message: _message, timestamp: _timestamp, ...facts } = info;
  return Object.keys(facts).length === 0 ? '' : ` ${JSON.stringify(facts)}`;
};

/**
 * A log that writes to stderr and appends to a file.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when the file cannot be opened.
 */
export function createLog({
  level,
  file,
  console = 'all',
  redact = redactor(),
}: CreateLogOptions): Log {
  const { combine, printf, timestamp } = winston.format;
  const hidden = winston.format((info) => {
    for (const [key, value] of Object.entries(info)) info[key] = redactDeep(value, redact);
    return info;
  });
  // Parts of it are a model's.
  const line = printf((info) => {
    const text = consoleText(`${String(info.message)}${factsOf(info)}`, basename(file));
    const { isTTY, columns } = process.stderr;
    return isTTY && columns > 0 ? wrapLines(text, columns) : text;
  });
  const dated = printf(
    (info) =>
      `${String(info['timestamp'])} ${info.level} ${visibleControls(`${String(info.message)}${factsOf(info)}`)}`,
  );
  const unseen = winston.format((info) => (info[seen] === true ? false : info));
  const stderr = new winston.transports.Console({
    stderrLevels: [...levels],
    level: console === 'warnings' && level !== 'error' ? 'warn' : level,
    format: combine(unseen(), line),
  });
  // winston would report it later, and elsewhere.
  writing(file, () => closeSync(openSync(file, 'a')));
  const inFile = new winston.transports.File({
    filename: file,
    format: combine(timestamp(), dated),
  });
  const transports = console === 'none' ? [inFile] : [inFile, stderr];
  const logger = winston.createLogger({ level, format: hidden(), transports });
  const logAt = (one: LogLevel) => (message: string, facts?: LogFacts) =>
    void logger.log(one, message, facts);
  return {
    error: logAt('error'),
    warn: logAt('warn'),
    info: logAt('info'),
    debug: logAt('debug'),
    shown: (message, one = 'warn') => void logger.log(one, message, { [seen]: true }),
    close: async () => {
      // winston's own `finish` comes before its file is on disk: wait for the file's.
      const written = once(inFile, 'finish');
      logger.end();
      await written;
    },
  };
}
