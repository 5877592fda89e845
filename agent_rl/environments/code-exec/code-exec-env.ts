import type { CodeTask } from '../../core/tasks/code-task.ts';
import type { Given } from '../../core/plugins/given.ts';
import { environment } from '../../core/plugins/environment.ts';
import type {
  Environment,
  EnvironmentStep,
  EpisodeEnd,
  ExecutedCall,
  Turn,
  Verdict,
} from '../../core/plugins/environment.ts';
import { type Message, system, type ToolCall, user } from '../../core/message.ts';
import { compareOutputs } from '../../sandbox/judge/compare-outputs.ts';
import { compareValues } from '../../sandbox/judge/compare-values.ts';
import { assertTestsOf } from '../../sandbox/judge/judge-asserts.ts';
import { judgeCode, type Judgement } from '../../sandbox/judge/judge.ts';
import type { CallsResult, JudgeResult, RunResult } from '../../core/services/sandbox.ts';
import { CodeExecSettings } from './settings.ts';
import { verdictOf } from './verdict.ts';

const toolName = 'code_exec';

type Ran = RunResult | CallsResult | JudgeResult;

/** A call that ran, and whether it failed on the public case. */
interface Attempt {
  code: string;
  failed: boolean;
  timedOut: boolean;
}

/**
 * The policy writes a program, runs it by `code_exec` on the public case or the public statements, and may repair it.
 * Hidden ones judge the program in runs of their own that the policy never sees.
 */
@environment({
  name: 'code_exec',
  description: 'Solve a programming task by writing and running Python; judged by hidden cases.',
  settings: CodeExecSettings,
  requires: [toolName],
  needs: ['sandbox'],
  taskFormat: 'code',
})
export class CodeExecEnv implements Environment {
  readonly #attempts: Attempt[] = [];
  #judgement: Judgement | undefined;
  #judgedFailures = 0;

  constructor(private readonly given: Omit<Given<CodeExecSettings, CodeTask>, 'shared'>) {}

  async start(): Promise<readonly Message[]> {
    const { systemPrompt, showStarterCode } = this.given.settings;
    const { prompt, starterCode } = this.given.task;
    const shown = showStarterCode && starterCode !== '' ? `${prompt}\n\n${starterCode}` : prompt;
    return [...(systemPrompt === undefined ? [] : [system(systemPrompt)]), user(shown)];
  }

  toolInputs(call: ToolCall): Readonly<Record<string, unknown>> {
    const { tests } = this.given.task;
    if (call.name !== toolName) return {};
    if (tests.kind === 'asserts') {
      const { public: shown = [] } = tests;
      return shown.length === 0 ? {} : { tests: assertTestsOf(tests, shown) };
    }
    if (tests.kind === 'stdin') {
      const shown = tests.cases.find((given) => given.public === true);
      return shown === undefined ? {} : { stdin: shown.input };
    }
    const shown = tests.cases.find((given) => given.public === true);
    return shown === undefined ? {} : { call: { entry: tests.entry, args: shown.args } };
  }

  async step(turn: Turn, signal: AbortSignal): Promise<EnvironmentStep> {
    for (const executed of turn.calls) {
      const attempt = this.#attemptOf(executed);
      if (attempt === undefined) continue;
      this.#attempts.push(attempt);
      if (
        this.given.settings.judgedCall === 'every-call' &&
        (await this.#solves(attempt, signal))
      ) {
        return { done: true };
      }
    }
    return { done: turn.calls.length === 0 && (turn.message.malformedCalls ?? []).length === 0 };
  }

  async finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const last = this.#attempts.at(-1);
    if (this.given.settings.judgedCall === 'last-call' && last !== undefined && end !== 'aborted') {
      this.#judgement = await this.#judge(last.code, signal);
    }
    const failed = this.#attempts.filter((attempt) => attempt.failed).length;
    return verdictOf(
      {
        end,
        judgement: this.#judgement,
        calls: this.#attempts.length,
        failedCalls: Math.max(failed, this.#judgedFailures),
        timedOutCalls: this.#attempts.filter((attempt) => attempt.timedOut).length,
      },
      this.given.settings,
    );
  }

  async #solves({ code }: Attempt, signal: AbortSignal): Promise<boolean> {
    this.#judgement = await this.#judge(code, signal);
    const { passed, total } = this.#judgement;
    if (total > 0 && passed === total) return true;
    this.#judgedFailures++;
    return false;
  }

  #judge(code: string, signal: AbortSignal): Promise<Judgement> {
    const { tests, compare } = this.given.task;
    const { judgeWallS, partialCredit } = this.given.settings;
    const limits = judgeWallS === undefined ? {} : { wallS: judgeWallS };
    const stopAtFirstFailure = partialCredit === 0;
    return judgeCode(
      this.given.sandbox,
      { code, tests, compare, limits, stopAtFirstFailure },
      signal,
    );
  }

  #attemptOf({ call, result, status }: ExecutedCall): Attempt | undefined {
    const { code } = call.arguments;
    if (call.name !== toolName || status === 'rejected' || typeof code !== 'string')
      return undefined;
    const run = result.data as Ran | undefined;
    const timedOut = status === 'timeout' || run?.status === 'timeout';
    return { code, timedOut, failed: status !== 'ok' || !this.#passesPublicCase(run) };
  }

  /** Also true without a public case. */
  #passesPublicCase(run: Ran | undefined): boolean {
    const { tests, compare } = this.given.task;
    if (run === undefined) return true;
    if (tests.kind === 'asserts') {
      // In a session they were lines of the program, whose status shows the result.
      if (!('verdicts' in run)) return true;
      return (tests.public ?? []).every((_, i) => run.verdicts[i]?.passed === true);
    }
    if (tests.kind === 'stdin') {
      const shown = tests.cases.find((given) => given.public === true);
      return shown === undefined || compareOutputs(run.stdout, shown.output, compare);
    }
    const shown = tests.cases.find((given) => given.public === true);
    const [returned] = 'results' in run ? run.results : [];
    if (shown === undefined || returned === undefined) return true;
    return returned.ok && compareValues(returned.value, shown.expected, compare);
  }
}
