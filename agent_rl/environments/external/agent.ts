import { type Static, type TObject, Type } from '../../core/typebox.ts';
import type { AgentContext } from '../../core/plugins/agent.ts';
import {
  environments,
  type EpisodeEnd,
  type ExternalEnvironment,
  type Verdict,
} from '../../core/plugins/environment.ts';
import type { Class } from '../../core/plugins/given.ts';
import { isClass } from '../../core/plugins/plugin-rules.ts';
import { rollouts } from '../../core/services/rollout-scope.ts';
import { owningStrays } from '../../core/stopping/stray-failure.ts';
import type { QuestionTask } from '../../core/tasks/question-task.ts';
import { judgeAnswer, type Judging } from '../question/judge-answer.ts';
import { answerProblem } from '../question/right-answer.ts';
import { type JudgingSettings, judgingSettings } from '../question/settings.ts';
import { isModelError } from './model-errors.ts';

/** How an external agent is named and judged. */
export interface AgentSpec<Settings extends TObject = TObject> {
  /** Of the environment that it becomes: `environment: {type: NAME}`. */
  readonly name: string;
  readonly description: string;
  /** Schema of the agent's own settings in YAML, in addition to the settings that judge its answer. */
  readonly settings?: Settings | undefined;
  /** Whether an error of the agent is the model's fault, in addition to known errors of frameworks. */
  readonly isModelError?: ((thrown: unknown) => boolean) | undefined;
}

/** An agent as a class. A new instance is created for each rollout, with `{ task, settings }`. */
interface AgentClass {
  run(context: AgentContext): unknown;
}

/** Marks an agent: a class as a decorator, or a function. */
interface MarkAgent<Settings> {
  (
    target: (context: AgentContext<QuestionTask>, settings: Settings & JudgingSettings) => unknown,
  ): Class<ExternalEnvironment>;
  <Target extends Class<AgentClass>>(target: Target): Target;
}

type AgentGiven = Pick<Judging, 'task' | 'settings'>;

/**
 * Marks an external agent as an environment, in which it plays its rollouts. It runs in this thread.
 *
 * @example export const mine = agent({ name: 'mine', description: '…' })(async ({ task, fetch }) => …)
 */
export function agent<Settings extends TObject = TObject>(
  spec: AgentSpec<Settings>,
): MarkAgent<Static<Settings>> {
  const { name, description, isModelError: own } = spec;
  const settings = Type.Object(
    { ...judgingSettings, ...spec.settings?.properties },
    { additionalProperties: false },
  );
  const mark = environments.mark({
    name,
    description,
    settings,
    external: true,
    taskFormat: 'question',
    answers: true,
    taskProblem: (task, given) => answerProblem(task, given as JudgingSettings),
  });
  return (target: unknown) => mark(environmentOf(target, own));
}

type Played = (context: AgentContext, settings: unknown) => unknown;

/** The environment of an agent: a class is extended, so that the decorator returns that class. */
function environmentOf(
  target: unknown,
  own: AgentSpec['isModelError'],
): Class<ExternalEnvironment> {
  const isOwn = isClass(target);
  const base = (isOwn ? target : Object) as Class<AgentClass>;
  return class extends base implements ExternalEnvironment {
    readonly #given: AgentGiven;
    readonly #strays: string[] = [];
    #over = false;

    constructor(given: AgentGiven) {
      super(given);
      this.#given = given;
    }

    override async run(context: AgentContext): Promise<unknown> {
      const { fetch } = context;
      const play = () =>
        isOwn ? super.run(context) : (target as Played)(context, this.#given.settings);
      return owningStrays(
        ({ message }) => {
          if (this.#over)
            process.emitWarning(
              `An agent reported an error after its rollout had ended: ${message}`,
            );
          else this.#strays.push(message);
        },
        () => rollouts.scope.run({ fetch }, async () => play()),
      );
    }

    isModelError(thrown: unknown): boolean {
      return isModelError(thrown, own);
    }

    async finish(end: EpisodeEnd, _: AbortSignal, answer?: unknown): Promise<Verdict> {
      this.#over = true;
      const record = this.#strays.length === 0 ? undefined : { unawaited: [...this.#strays] };
      return judgeAnswer(answer, { ...this.#given, end, record });
    }
  };
}
