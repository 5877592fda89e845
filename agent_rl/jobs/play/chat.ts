import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { keyOutsideRuns, type Rollout } from '../../core/rollout.ts';
import type { Span } from '../../core/transcript.ts';
import { samplingOf } from '../../config/index.ts';
import { runEpisode } from '../../rollout/run-episode.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { openAgent } from '../../compose/open-agent.ts';
import { resolveRun } from '../../compose/resolve-run.ts';
import { chatTask } from './chat-task.ts';
import { converse } from './conversation.ts';
import type { JobOptions, JobResult } from '../job.ts';

/** ANSI colours by where tokens came from. */
const colors: Readonly<Record<Span['source'], number>> = {
  template: 90,
  system: 35,
  user: 36,
  tool: 33,
  sampled: 32,
  demonstration: 34,
};

export interface ChatOptions extends JobOptions {
  /** Run folder or checkpoint to talk to instead of `model.path`. */
  checkpoint?: string;
  /** Name of the policy to use instead of the one at the top level. */
  policy?: string | undefined;
  /** Said alone; without it, `ask` is. */
  prompt?: string;
  /** The next line that the person types, `undefined` when there are no more. */
  ask?: () => Promise<string | undefined>;
  /** Whether the transcript is coloured by where its tokens came from. */
  color: boolean;
}

/**
 * Talks to an agent, which has the config's tools; there is nothing to solve, so nothing is judged. One prompt is shown as
 * its transcript by where the tokens came from, a conversation turn by turn.
 */
export async function chat(options: ChatOptions): Promise<JobResult> {
  const { print, signal, prompt, color } = options;
  const run = await resolveRun(options, { ...options, trains: false });
  const { config, model } = run;
  const agent = await openAgent(run, { workers: 2, trains: false, packs: true, signal });
  try {
    for (const note of agent.notes) print(`Note: ${note}`);
    agent.model?.incidents.listen((text) => print(`Note: ${text}`));
    if (prompt === undefined) {
      const held = await converse({
        make: agent.make,
        request: { step: 0, seed: config.run.seed, sampling: samplingOf(config) },
        ask: options.ask ?? (() => Promise.resolve(undefined)),
        print,
        signal,
        maxTokens: config.policy.maxContextTokens,
      });
      return { conversations: held.map(resultOf) };
    }
    const make = chatTask(agent.make, { prompt });
    const request = {
      task: { taskId: 'chat', prompt, metadata: {} },
      key: keyOutsideRuns(),
      step: 0,
      seed: config.run.seed,
      sampling: samplingOf(config),
    };
    const rollout = await runEpisode(make, request, signal);
    throwIfFailed(signal);
    const legend = Object.keys(colors).map((source) =>
      paint(source, source as Span['source'], color),
    );
    print(`Colours: ${legend.join(' ')}`);
    const texts = rollout.parts
      .flatMap(({ sequences }) => sequences)
      .flatMap(({ tokens, spans }) =>
        spans.map(({ start, end, source }) => {
          const text = model.text.tokenizer.decode(tokens.slice(start, end));
          return paint(visibleControls(text), source, color);
        }),
      );
    print(texts.join(''));
    if (rollout.problem !== undefined)
      print(`Ended as ${rollout.outcome}: ${visibleControls(rollout.problem)}`);
    return resultOf(rollout);
  } finally {
    await agent.close();
  }
}

const resultOf = ({ outcome, parts }: Rollout) => ({
  outcome,
  messages: parts.flatMap(({ messages }) => messages),
  spans: parts.flatMap(({ sequences }) => sequences.flatMap(({ spans }) => spans)),
});

function paint(text: string, source: Span['source'], color: boolean): string {
  return color ? `\u001B[${colors[source]}m${text}\u001B[0m` : `[${source}]${text}`;
}
