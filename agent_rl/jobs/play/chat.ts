import { throwIfFailed } from '../../core/stray-failure.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Span } from '../../core/transcript.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { openAgent } from '../../compose/agent.ts';
import { chatTask } from './chat-task.ts';
import { converse } from './conversation.ts';
import { withoutAdapters } from '../../compose/new-adapter.ts';
import type { ChatOptions, JobResult } from '../job.ts';

/** ANSI colours by where tokens came from. */
const colors: Readonly<Record<Span['source'], number>> = {
  template: 90,
  system: 35,
  user: 36,
  tool: 33,
  sampled: 32,
  demonstration: 34,
};

/**
 * Talks to an agent, which has the config's tools; there is nothing to solve, so nothing is judged. One prompt is shown as
 * its transcript by where the tokens came from, a conversation turn by turn.
 */
export async function runChat(options: ChatOptions): Promise<JobResult> {
  const { loaded, plugins, print, signal, checkpoint, prompt, color } = options;
  const { config } = loaded;
  const model = checkpoint === undefined ? undefined : checkpointAt(checkpoint, print);
  const agent = await openAgent({
    loaded: model === undefined ? loaded : withoutAdapters(loaded),
    plugins,
    signal,
    model,
    workers: 2,
  });
  try {
    for (const note of agent.policy.notes ?? []) print(`Note: ${note}`);
    if (prompt === undefined) {
      const held = await converse({
        make: agent.make,
        request: { step: 0, seed: config.run.seed, sampling: config.policy.sampling },
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
      sample: 0,
      step: 0,
      seed: config.run.seed,
      sampling: config.policy.sampling,
    };
    const trajectory = await runEpisode(make, request, signal);
    throwIfFailed(signal);
    const legend = Object.keys(colors).map((source) =>
      paint(source, source as Span['source'], color),
    );
    print(`Colours: ${legend.join(' ')}`);
    const parts = trajectory.spans.map(({ start, end, source }) =>
      paint(
        visibleControls(agent.languageModel.tokenizer.decode(trajectory.tokens.slice(start, end))),
        source,
        color,
      ),
    );
    print(parts.join(''));
    if (trajectory.problem !== undefined)
      print(`Ended as ${trajectory.outcome}: ${trajectory.problem}`);
    return resultOf(trajectory);
  } finally {
    await agent.close();
  }
}

const resultOf = ({ outcome, messages, spans }: Trajectory) => ({ outcome, messages, spans });

function paint(text: string, source: Span['source'], color: boolean): string {
  return color ? `\u001B[${colors[source]}m${text}\u001B[0m` : `[${source}]${text}`;
}
