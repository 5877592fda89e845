import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { ChatOptions } from '#agent_rl/jobs/play/chat.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { commandLine } from '#tests/support/command-line.ts';

const config = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');

describe('agent-rl chat', () => {
  /** What the job was given, and what it heard. */
  async function chatted(input: string | undefined, ...args: string[]) {
    const given: ChatOptions[] = [];
    const heard: (string | undefined)[] = [];
    const job = async (options: ChatOptions) => {
      given.push(options);
      if (options.ask !== undefined) {
        for (let line = await options.ask(); line !== undefined; line = await options.ask()) {
          heard.push(line);
        }
      }
      return {};
    };
    const ran = await commandLine(['chat', ...args, '--config', config], {
      jobs: { chat: job },
      ...(input !== undefined && { input }),
    });
    return { ...ran, options: given[0], heard };
  }

  test('sends each line of standard input', async () => {
    const { options, heard, code } = await chatted('One.\n\nTwo.', 'runs/one');
    expect([code, options?.checkpoint, options?.prompt]).toEqual([0, 'runs/one', undefined]);
    expect(heard).toEqual(['One.', '', 'Two.']);
  });

  test('sends only --prompt', async () => {
    const { options } = await chatted('One.', '--prompt', 'Hello.');
    expect([options?.prompt, options?.ask]).toEqual(['Hello.', undefined]);
  });
});
