import { describe, expect, test } from '@jest/globals';

import { episodeMaker } from '#agent_rl/compose/episode-maker.ts';
import { runContainer } from '#agent_rl/compose/plugins/container.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveTasks } from '#agent_rl/compose/resolve-tasks.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import type { ToolSpec } from '#agent_rl/core/plugins/tool.ts';
import { keyOutsideRuns } from '#agent_rl/core/rollout.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import type { Toolbox } from '#agent_rl/core/tasks/toolbox.ts';
import { Type } from '#agent_rl/core/typebox.ts';
import { ToolboxEnv } from '#agent_rl/environments/toolbox/toolbox-env.ts';
import { RolloutWorker } from '#agent_rl/rollout/rollout-worker.ts';
import { ToolRunner } from '#agent_rl/rollout/tools/tool-runner.ts';
import { says, type Script, ScriptedPolicy } from '#tests/support/scripted-policy.ts';

const generator = { type: 'toolbox', evalTasks: 12, slices: ['new shapes'] };

/** Plays the evaluation of the generator `toolbox`, in a run that has a tool besides. */
async function played(scriptOf: (toolboxes: ReadonlyMap<string, Toolbox>) => Script) {
  const settings = {
    environment: { type: 'toolbox' },
    tools: [{ type: 'calculator' }],
    datasets: [{ generator }],
  };
  const { loaded, chosen } = await prepareRun({ file: 'run.yaml', settings });
  const { config } = loaded;
  const { evaluation } = await resolveTasks(config, chosen, {
    evaluation: 'eval',
    print: () => undefined,
  });
  const toolboxes = new Map(
    evaluation.map(({ taskId, metadata }) => [taskId, metadata as unknown as Toolbox]),
  );
  const policy = new ScriptedPolicy(scriptOf(toolboxes));
  const toolRunner = new ToolRunner(chosen.tools.map(({ entry }) => entry.spec));
  const shared = { toolsShared: new Map(), rewardsShared: new Map(), sandbox: undefined };
  const run = { config, chosen, container: runContainer(), policy, toolRunner };
  const asked = { key: keyOutsideRuns(), step: 0, seed: 1, sampling: unbiased };
  const requests = evaluation.map((task) => Object.assign({ task }, asked));
  const { signal } = new AbortController();
  const rollouts = await new RolloutWorker(episodeMaker({ ...run, ...shared })).collect(requests, {
    signal,
  });
  return { rollouts, policy, toolboxes };
}

describe('An environment that brings tools to each episode', () => {
  test('shows them beside the tools of the run, and answers their calls', async () => {
    const { rollouts, policy, toolboxes } = await played((known) => ({ key }, heard) => {
      const call = known.get(key.taskId)?.calls[key.turn];
      const { content } = heard.at(-1)!;
      return {
        message:
          call === undefined
            ? says(`The answer is ${content}.`)
            : says('', [call.name, call.arguments]),
      };
    });
    expect(rollouts.map(({ problem }) => problem)).toEqual(rollouts.map(() => undefined));
    for (const { parts } of rollouts)
      expect(parts[0]).toMatchObject({
        success: true,
        reward: 1,
        metrics: { toolRight: 1, argumentsRight: 1 },
      });
    const names = [...toolboxes.values()].map(({ tools }) => tools.map(({ name }) => name));
    expect(policy.offered).toEqual(names.map((own) => ['calculator'].concat(own)));
  });

  test('answers calls of other names or with other arguments by what the episode has', async () => {
    const { rollouts, toolboxes } = await played((known) => ({ key: { taskId, turn } }) => {
      const [first] = known.get(taskId)!.tools;
      const calls = [says('', ['no_such_tool', {}]), says('', [first!.name, { no: 1 }])];
      return { message: calls[turn] ?? says('no') };
    });
    for (const { taskId, parts } of rollouts) {
      const own = toolboxes.get(taskId)!.tools.map(({ name }) => name);
      const [unknown, invalid] = parts[0]!.calls.map(({ result }) => result.content);
      expect(unknown).toBe(
        `Error: there is no tool named "no_such_tool". Tools: calculator, ${own.join(', ')}.`,
      );
      expect(invalid).toContain(`Error: invalid arguments for ${own[0]}:`);
    }
  });
});

describe('A runner with more tools', () => {
  const tool = (name: string): ToolSpec => ({
    name,
    description: 'Something.',
    parameters: Type.Object({}),
  });
  const run = new ToolRunner([tool('known')]);
  const problemOf = (runner: ToolRunner, name: string) =>
    runner.problemOf({ id: 'c', name, arguments: {} });

  test('runs its own and the others, and leaves the runner of the run as it was', () => {
    const both = run.with([tool('one')]);
    expect(both.specs.map(({ name }) => name)).toEqual(['known', 'one']);
    expect([problemOf(both, 'one'), problemOf(both, 'known')]).toEqual([undefined, undefined]);
    expect(problemOf(run, 'one')).toContain('no tool named "one"');
  });

  test.each([[['one', 'one']], [['known']]])('refuses a name used twice: %j', (names) => {
    expect(() => run.with(names.map(tool))).toThrow('two tools of the episode have the same name');
  });
});

test('a class that brings tools without tools() and call() is refused', () => {
  class Silent {
    start() {}
  }
  expect(environments.problemsOf(ToolboxEnv)).toEqual([]);
  environments.mark({ ...environments.specOf(ToolboxEnv)!, name: 'silent' })(Silent as never);
  expect(environments.problemsOf(Silent).join(' ')).toMatch(/tools.*call/);
});
