import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

import type { Config } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import type { RunFolder } from '../run-folder.ts';

/** Checkpoints of supervised training and of reinforcement learning hold different things. @throws AgentRlError `CONFIG_INVALID` */
export function requireSameMode(folder: RunFolder, { train: { mode } }: Config): void {
  const recorded: unknown = existsSync(folder.config)
    ? parse(readFileSync(folder.config, 'utf8'))
    : undefined;
  const train = isRecord(recorded) ? recorded['train'] : undefined;
  const before = isRecord(train) ? train['mode'] : undefined;
  // Runs of before there were two record none.
  if (typeof before !== 'string' || before === mode) return;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${folder.path} was started with train.mode ${before} and cannot be resumed with ${mode}. Restore the setting, or start a new run from its checkpoint with --model.`,
  );
}
