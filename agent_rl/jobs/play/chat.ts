import { throwIfFailed } from '../../core/stray-failure.ts';
import type { Span } from '../../core/transcript.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { openAgent } from '../../compose/agent.ts';
import { chatTask } from './chat-task.ts';
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
 * One prompt, played as an episode without a grader, and its transcript by provenance.
 *
 * The agent has the config's tools; there is nothing to solve, so nothing is judged.
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
    const make = chatTask(agent.make, prompt);
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
    return { outcome: trajectory.outcome, messages: trajectory.messages, spans: trajectory.spans };
  } finally {
    await agent.close();
  }
}

function paint(text: string, source: Span['source'], color: boolean): string {
  return color ? `\u001B[${colors[source]}m${text}\u001B[0m` : `[${source}]${text}`;
}
