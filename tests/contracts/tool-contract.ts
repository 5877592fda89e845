import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';

import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import { tools } from '../../agent_rl/core/plugins/tool.ts';
import type { Tool, ToolContext, ToolResult } from '../../agent_rl/core/plugins/tool.ts';
import { expectSpec, snakeCase } from './contract-parts.ts';

export interface ToolContract {
  /** The class that carries `@tool`. */
  plugin: unknown;
  /** A new instance, as the container would make it. */
  create: () => Tool;
  /** Arguments that the tool can do something with. */
  goodArguments: Readonly<Record<string, unknown>>;
  /** Arguments that fit the schema and that the tool must answer with `isError`. */
  badArguments: Readonly<Record<string, unknown>>;
  /** What its environment hands it, if anything. */
  inputs?: Readonly<Record<string, unknown>>;
}

const contextOf = (inputs: ToolContract['inputs'] = {}): ToolContext => ({
  signal: new AbortController().signal,
  inputs,
  idempotencyKey: 'call',
  random: new KeyedRng(1, 'contract'),
});

const withoutTimes = (result: ToolResult): unknown =>
  JSON.parse(JSON.stringify(result, (key, value: unknown) => (key === 'wallMs' ? 0 : value)));

/** What every tool promises. Call it from the test of each tool plugin. */
export function describeToolContract(name: string, contract: ToolContract): void {
  const { plugin, create, goodArguments, badArguments, inputs } = contract;
  describe(`${name} keeps the Tool contract`, () => {
    const spec = tools.specOf(plugin);

    test('is marked with a spec that a model can use, and has the interface of its kind', () => {
      expectSpec(spec, { names: snakeCase, taken: [] });
      expect(tools.problemsOf(plugin)).toEqual([]);
      expect(spec?.parameters).toMatchObject({ type: 'object', additionalProperties: false });
    });

    test('has a schema that accepts the arguments of this test and rejects others', () => {
      const fits = new Ajv({ strict: false }).compile(spec?.parameters ?? false);
      expect(fits(goodArguments)).toBe(true);
      expect(fits(badArguments)).toBe(true);
      expect(fits({ ...goodArguments, surelyNotAnArgument: 1 })).toBe(false);
    });

    test('answers with text', async () => {
      const result = await create().call(goodArguments, contextOf(inputs));
      expect(result.isError ?? false).toBe(false);
      expect(result.content.trim()).not.toBe('');
    });

    test('explains what is wrong instead of throwing', async () => {
      const result = await create().call(badArguments, contextOf(inputs));
      expect(result.isError).toBe(true);
      expect(result.content.trim()).not.toBe('');
    });

    test('gives the same answer to the same call', async () => {
      const answer = async (): Promise<unknown> =>
        withoutTimes(await create().call(goodArguments, contextOf(inputs)));
      expect(await answer()).toEqual(await answer());
    });

    if (spec?.isolated !== undefined) {
      test('needs no service, and takes arguments that can be sent to a thread', () => {
        expect(spec.needs ?? []).toEqual([]);
        expect(() => structuredClone(goodArguments)).not.toThrow();
      });
    }
  });
}
