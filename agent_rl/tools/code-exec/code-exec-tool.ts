import { inject } from 'inversify';
import { Type } from 'typebox';
import type { Static } from 'typebox';

import { AgentRlError } from '../../core/errors.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { SANDBOX } from '../../core/sandbox.ts';
import type { AssertTests, RunResult, Sandbox } from '../../core/sandbox.ts';
import { SETTINGS, tool } from '../../core/tool.ts';
import type { Tool, ToolContext, ToolResult } from '../../core/tool.ts';
import { describeCall, describeRun, describeTests } from './describe-run.ts';

const CodeExecParameters = Type.Object(
  { code: Type.String({ description: 'A whole Python program' }) },
  { additionalProperties: false },
);

const CodeExecSettings = Type.Object(
  {
    timeoutS: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 240,
        description: 'Seconds one program may run',
      }),
    ),
    memoryMiB: Type.Optional(
      Type.Integer({ minimum: 64, maximum: 1024, description: 'Memory one program may use' }),
    ),
    output: Type.Optional(
      Type.Enum(['shown', 'blank', 'unavailable'], {
        default: 'shown',
        description:
          'What the agent reads. blank: nothing, though its program ran; unavailable: that the tool is not there, and nothing runs. For measuring what the tool is worth',
      }),
    ),
  },
  { additionalProperties: false },
);

/** What an environment may hand the tool: standard input, a call to make once the program has run, or public tests. */
export interface CodeExecInputs {
  readonly stdin?: string;
  readonly call?: { readonly entry: string; readonly args: readonly unknown[] };
  /** The policy is shown the statements, never the setup. */
  readonly tests?: AssertTests;
}

/**
 * Runs a Python program of the policy's in the sandbox and shows what it printed, what its function returned or which
 * tests it passes.
 */
@tool({
  name: 'code_exec',
  description: 'Run a Python program and see what it prints.',
  parameters: CodeExecParameters,
  settings: CodeExecSettings,
  // The sandbox ends a program by its own limit; this leaves time to wait for a free worker.
  deadlineS: 300,
})
export class CodeExecTool implements Tool<typeof CodeExecParameters> {
  constructor(
    @inject(SANDBOX) private readonly sandbox: Sandbox,
    @inject(SETTINGS) private readonly settings: Static<typeof CodeExecSettings>,
  ) {}

  async call(
    { code }: Static<typeof CodeExecParameters>,
    { inputs, signal }: ToolContext,
  ): Promise<ToolResult> {
    if (this.settings.output === 'unavailable') {
      return { content: 'Error: code_exec is not available.', isError: true };
    }
    const answer = await this.#run(code, inputs, signal);
    return this.settings.output === 'blank' ? { ...answer, content: '' } : answer;
  }

  async #run(
    code: string,
    { stdin, call, tests }: CodeExecInputs,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    // Keyed by the program itself: the same program has the same luck, whoever writes it.
    const seed = new KeyedRng('code_exec', code).integer(0x100000000);
    const request = { code, seed, limits: this.#limits() };
    if (tests !== undefined) {
      const run = await this.sandbox.judge({ ...request, tests }, signal);
      return shown(run, describeTests(run, tests));
    }
    if (call === undefined) {
      const run = await this.sandbox.run({ ...request, stdin: stdin ?? '' }, signal);
      return shown(run, describeRun(run));
    }
    const run = await this.sandbox.calls(
      { ...request, entry: call.entry, args: [call.args] },
      signal,
    );
    return shown(run, describeCall(run));
  }

  #limits(): { wallS?: number; memoryMiB?: number } {
    const { timeoutS, memoryMiB } = this.settings;
    return {
      ...(timeoutS === undefined ? {} : { wallS: timeoutS }),
      ...(memoryMiB === undefined ? {} : { memoryMiB }),
    };
  }
}

/** @throws AgentRlError `SANDBOX_UNAVAILABLE` when the sandbox, not the program, failed. */
function shown(run: RunResult, described: Pick<ToolResult, 'content' | 'isError'>): ToolResult {
  if (run.status === 'sandbox_error') {
    throw new AgentRlError('SANDBOX_UNAVAILABLE', run.message ?? 'The sandbox failed.');
  }
  return { ...described, data: run };
}
