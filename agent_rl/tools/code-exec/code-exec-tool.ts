import { type Static, Type } from '../../core/typebox.ts';
import { choice, flag, number } from '../../config/blocks/block.ts';
import { AgentRlError } from '../../core/errors.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { partsOf, pythonRepr, type PythonValue } from '../../core/python/python-value.ts';
import { limitBounds } from '../../core/services/sandbox.ts';
import type { AssertTests, RunResult, SandboxSession } from '../../core/services/sandbox.ts';
import type { Given } from '../../core/plugins/given.ts';
import { tool } from '../../core/plugins/tool.ts';
import type { Tool, ToolContext, ToolResult } from '../../core/plugins/tool.ts';
import { describeCall, describeRun, describeSessionRun, describeTests } from './describe-run.ts';

const CodeExecParameters = Type.Object(
  { code: Type.String({ description: 'A whole Python program' }) },
  { additionalProperties: false },
);

/** What the model is shown instead where programs share a session. */
const sessionFace = {
  description:
    'Run a Python program and see what it prints. Its variables and files stay for your next programs.',
  parameters: Type.Object(
    {
      code: Type.String({ description: 'Python code; it may use names of your earlier programs' }),
    },
    { additionalProperties: false },
  ),
};

const CodeExecSettings = Type.Object({
  session: Type.Optional(
    flag(
      'Whether the programs of an episode share variables and files, as in one interpreter session',
      false,
    ),
  ),
  sessionS: Type.Optional(
    number(
      'Total seconds that the programs of a session may run; by default ten times the limit of one program',
      limitBounds.wallS,
    ),
  ),
  output: Type.Optional(
    choice(
      'What the agent sees of the result. blank: nothing, although its program runs; unavailable: a message that the tool does not exist, and nothing runs. For measuring how much the tool helps',
      ['shown', 'blank', 'unavailable'],
      'shown',
    ),
  ),
});

/** What an environment may hand the tool: standard input, a call to make once the program has run, or public tests. */
export interface CodeExecInputs {
  /** Python that runs before the program, or before the first of a session. Its names are the program's; it prints nothing. */
  setup?: string;
  stdin?: string;
  call?: { entry: string; args: readonly unknown[] };
  /** The policy is shown the statements, never the setup. */
  tests?: AssertTests;
}

interface Program {
  code: string;
  seed: number;
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
  needs: ['sandbox'],
  // The sandbox ends a program by its own limit, which starts with the program: waiting for a free worker costs it nothing.
  deadlineS: 86_400,
  configure: ({ session, sessionS }) => {
    if (session === true) return sessionFace;
    if (sessionS === undefined) return {};
    throw new Error('sessionS has no effect without session: true');
  },
})
export class CodeExecTool implements Tool<typeof CodeExecParameters> {
  #session: SandboxSession | undefined;

  constructor(
    private readonly given: Pick<Given<Static<typeof CodeExecSettings>>, 'sandbox' | 'settings'>,
  ) {}

  async call(
    { code }: Static<typeof CodeExecParameters>,
    { inputs, signal }: ToolContext,
  ): Promise<ToolResult> {
    if (this.given.settings.output === 'unavailable') {
      return { content: 'Error: code_exec is not available.', isError: true };
    }
    const answer = await this.#run(code, inputs, signal);
    return this.given.settings.output === 'blank' ? { ...answer, content: '' } : answer;
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  #run(code: string, inputs: CodeExecInputs, signal: AbortSignal): Promise<ToolResult> {
    // Keyed by the program itself: the same program has the same luck, whichever agent writes it.
    const seed = new KeyedRng('code_exec', code).integer(0x100000000);
    return this.given.settings.session === true
      ? this.#runInSession({ code, seed }, inputs, signal)
      : this.#runAlone({ code, seed }, inputs, signal);
  }

  async #runAlone(
    program: Program,
    { setup, stdin, call, tests }: CodeExecInputs,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const linesBefore = setup === undefined ? 0 : setup.split('\n').length;
    const code =
      setup === undefined ? program.code : `${setup}\n${program.code.replace(/^\uFEFF/, '')}`;
    const request = { ...program, code };
    if (tests !== undefined) {
      const run = await this.given.sandbox.execute({ kind: 'judge', ...request, tests }, signal);
      return shown(run, describeTests(run, tests, linesBefore));
    }
    if (call === undefined) {
      const run = await this.given.sandbox.execute(
        { kind: 'run', ...request, stdin: stdin ?? '' },
        signal,
      );
      return shown(run, describeRun(run, linesBefore));
    }
    const run = await this.given.sandbox.execute(
      { kind: 'calls', ...request, entry: call.entry, args: [call.args] },
      signal,
    );
    return shown(run, describeCall(run, linesBefore));
  }

  /**
   * The first program's seed is the session's. A call is a line of Python at the end, which prints what it returns; tests
   * are lines at the end too, unless they have a setup: it is hidden, and here the program could read it.
   */
  async #runInSession(
    { code, seed }: Program,
    { setup, stdin = '', call, tests }: CodeExecInputs,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    this.#session ??= await this.#openSession({ seed, setup }, signal);
    const checks = tests?.setup === undefined ? (tests?.statements ?? []) : [];
    const more = [...checks, ...(call === undefined ? [] : [callLine(call)])];
    const run = await this.#session.run({ code: [code, ...more].join('\n'), stdin }, signal);
    return shown(run, describeSessionRun(run));
  }

  async #openSession(
    { seed, setup }: { seed: number; setup: string | undefined },
    signal: AbortSignal,
  ): Promise<SandboxSession> {
    const { sessionS } = this.given.settings;
    const session = this.given.sandbox.openSession({
      seed,
      totalWallS: sessionS,
    });
    if (setup === undefined) return session;
    const run = await session.run({ code: setup, stdin: '' }, signal);
    if (run.status === 'ok') return session;
    await session.close();
    const { content } = describeRun(run);
    throw new AgentRlError(
      run.status === 'sandbox_error' ? 'SANDBOX_UNAVAILABLE' : 'DATASET_INVALID',
      `The setup of a task failed before the agent's first program: ${content}`,
    );
  }
}

/** @throws AgentRlError `SANDBOX_UNAVAILABLE` when the sandbox, not the program, failed. */
function shown(run: RunResult, described: Pick<ToolResult, 'content' | 'isError'>): ToolResult {
  if (run.status === 'sandbox_error') {
    throw new AgentRlError('SANDBOX_UNAVAILABLE', run.message ?? 'The sandbox failed.');
  }
  return { ...described, data: run };
}

function callLine({ entry, args }: NonNullable<CodeExecInputs['call']>): string {
  const literals = (args as readonly PythonValue[]).map(literalOf).join(', ');
  return `print(repr(${entry}(${literals})))`;
}

/** A value as an expression: its repr, but for the floats that have no literal, wherever they are in it. */
function literalOf(value: PythonValue): string {
  const parts = partsOf(value);
  if (parts.type === 'float' && !Number.isFinite(parts.value)) return `float('${parts.value}')`;
  if ('pairs' in parts) {
    return `{${parts.pairs.map(([key, item]) => `${literalOf(key)}: ${literalOf(item)}`).join(', ')}}`;
  }
  if (!('items' in parts)) return pythonRepr(value);
  const list = `[${parts.items.map(literalOf).join(', ')}]`;
  return parts.type === 'list' ? list : `${parts.type}(${list})`;
}
