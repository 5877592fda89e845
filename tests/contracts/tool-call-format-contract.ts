import { describe, expect, test } from '@jest/globals';

import type { AssistantMessage } from '../../agent_rl/core/message.ts';
import { messageOf } from '../../agent_rl/core/errors.ts';
import { toolCallFormats } from '../../agent_rl/core/plugins/tool-call-format.ts';
import type { BareCall, ToolCallFormat } from '../../agent_rl/core/plugins/tool-call-format.ts';
import type { ToolSpec } from '../../agent_rl/core/plugins/tool.ts';
import { textsWith } from './random-texts.ts';
import { expectSpec } from './contract-parts.ts';

export interface ToolCallFormatContract {
  /** The class that carries `@toolCallFormat`. */
  plugin: unknown;
  /** A new instance, as the container would make it. */
  create: () => ToolCallFormat;
  /** Tools that can be called in the format. */
  tools: readonly ToolSpec[];
  /** Calls of them that the format can write; none for a format without calls. */
  calls: readonly BareCall[];
  /** Text that is meant as a call and cannot be read as one. */
  broken: readonly string[];
  /** Pieces of text that mean something in the format. */
  marks: readonly string[];
}

const bare = ({ toolCalls = [] }: AssistantMessage): readonly BareCall[] =>
  toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args }));

/** Names the case in what a failing check throws. */
function showing(what: object, check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw new Error(`Failed for ${JSON.stringify(what)}: ${messageOf(cause)}`, { cause });
  }
}

function expectWellFormed(message: AssistantMessage, turn: number): void {
  const { role, content, toolCalls = [], malformedCalls = [] } = message;
  const ids = [...toolCalls, ...malformedCalls].map(({ id }) => id).toSorted();
  expect(ids).toEqual(ids.map((_, index) => `call_${turn}_${index}`).toSorted());
  expect(role).toBe('assistant');
  expect(typeof content).toBe('string');
  for (const call of toolCalls) {
    expect(call.name).not.toBe('');
    expect(Object.prototype.toString.call(call.arguments)).toBe('[object Object]');
  }
}

/** What every tool-call format promises. Call it from the test of each format plugin. */
export function describeToolCallFormatContract(
  name: string,
  { plugin, create, tools, calls, broken, marks }: ToolCallFormatContract,
): void {
  describe(`${name} keeps the ToolCallFormat contract`, () => {
    const format = create();
    const read = (text: string, turn = 3, inThought = false): AssistantMessage =>
      format.read({ text, turn, inThought, tools });

    test('is marked with a spec', () => {
      const spec = toolCallFormats.specOf(plugin);
      expectSpec(spec);
      expect(spec?.settings ?? { type: 'object' }).toMatchObject({ type: 'object' });
    });

    test('supports the tools of this test', () => {
      expect(format.problemWith?.(tools)).toBeUndefined();
    });

    test('reads the calls it prints', () => {
      for (const call of calls) {
        const message = read(format.print(call, tools));
        expect(bare(message)).toEqual([call]);
        expect(message).toMatchObject({ role: 'assistant', content: '' });
        expect(message.malformedCalls).toBeUndefined();
      }
    });

    test('reads several calls in their order', () => {
      const message = read(calls.map((call) => format.print(call, tools)).join('\n'));
      expect(bare(message)).toEqual(calls);
    });

    test('reads plain text as plain text', () => {
      expect(read('It is 4.\n')).toEqual({ role: 'assistant', content: 'It is 4.' });
      expect(read('')).toEqual({ role: 'assistant', content: '' });
    });

    test('explains what is wrong with text it cannot read and makes no call of it', () => {
      for (const text of broken) {
        const { toolCalls, malformedCalls = [] } = read(text);
        expect(toolCalls).toBeUndefined();
        expect(malformedCalls.length).toBeGreaterThan(0);
        for (const { problem } of malformedCalls) expect(problem).toMatch(/\S.{9,}/);
      }
    });

    test('makes no call inside a thought', () => {
      const printed = calls.map((call) => format.print(call, tools)).join('\n');
      for (const [text, inThought] of [
        [`${printed}\n</think>\n\n4`, true],
        [`<think>\n${printed}\n</think>\n\n4`, false],
      ] as const) {
        const message = read(text, 0, inThought);
        expect(bare(message)).toEqual([]);
        expect(message.content).toBe('4');
        expect(message.reasoning ?? '').toBe(printed.trim());
      }
    });

    test('never throws, whatever the text, and numbers calls after their turn', () => {
      for (const text of textsWith([...marks, '<think>', '</think>'])) {
        for (const inThought of [false, true]) {
          showing({ text, inThought }, () => {
            const message = read(text, 5, inThought);
            expectWellFormed(message, 5);
            expect(read(text, 5, inThought)).toEqual(message);
          });
        }
      }
    });

    test('distinguishes its own templates from others', () => {
      const call = { name: 'contract_tool', arguments: { code: '1' } };
      for (const turn of [undefined, '', 'words']) {
        expect(format.fits({ source: 'words', call, turn })).toBe(false);
      }
    });
  });
}
