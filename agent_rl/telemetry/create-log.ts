import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

import winston from 'winston';

import { outputUnwritable } from './output-unwritable.ts';
import { redactDeep, type Redact, redactor } from './redact.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Facts that go with a message. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** Where the framework says what it does. Secrets of the environment are hidden in all of it. */
export interface Log {
  error(message: string, facts?: LogFacts): void;
  warn(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  debug(message: string, facts?: LogFacts): void;
  /** Waits until everything is written. Nothing may be logged afterwards. */
  close(): Promise<void>;
}

export interface CreateLogOptions {
  level: LogLevel;
  /** `run.log` of the run; without it only the console is written to. */
  file?: string;
  /** The console is left alone, for tests and for callers with their own display. */
  quiet?: boolean;
  redact?: Redact;
}

const factsOf = (info: winston.Logform.TransformableInfo): string => {
  const { level: _level, message: _message, timestamp: _timestamp, ...facts } = info;
  return Object.keys(facts).length === 0 ? '' : ` ${JSON.stringify(facts)}`;
};

/**
 * A log that writes to stderr and, when given a file, appends to it.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when the file cannot be opened.
 */
export function createLog({
  level,
  file,
  quiet = false,
  redact = redactor(),
}: CreateLogOptions): Log {
  const { combine, printf, timestamp } = winston.format;
  const hidden = winston.format((info) => {
    for (const [key, value] of Object.entries(info)) info[key] = redactDeep(value, redact);
    return info;
  });
  const line = printf((info) => `${String(info.message)}${factsOf(info)}`);
  const dated = printf(
    (info) => `${String(info['timestamp'])} ${info.level} ${String(info.message)}${factsOf(info)}`,
  );
  const levels = ['error', 'warn', 'info', 'debug'];
  const toStderr = new winston.transports.Console({ stderrLevels: levels, format: line });
  const transports: winston.transport[] = quiet ? [] : [toStderr];
  const stream = file === undefined ? undefined : fileTransport(file, combine(timestamp(), dated));
  if (stream !== undefined) transports.push(stream);
  const logger = winston.createLogger({
    level,
    format: hidden(),
    transports,
    silent: transports.length === 0,
  });
  return {
    error: (message, facts = {}) => void logger.error(message, facts),
    warn: (message, facts = {}) => void logger.warn(message, facts),
    info: (message, facts = {}) => void logger.info(message, facts),
    debug: (message, facts = {}) => void logger.debug(message, facts),
    close: async () => {
      // winston's own `finish` comes before its file is on disk: wait for the file's.
      const written = stream === undefined ? once(logger, 'finish') : once(stream, 'finish');
      logger.end();
      await written;
    },
  };
}

function fileTransport(file: string, format: winston.Logform.Format): winston.transport {
  try {
    closeSync(openSync(file, 'a'));
  } catch (cause) {
    throw outputUnwritable(file, cause);
  }
  return new winston.transports.File({ filename: file, format });
}
