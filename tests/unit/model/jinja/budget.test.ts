import { expect, test } from '@jest/globals';

import { ChatTemplate } from '#model/text/chat-template.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const chat = [{ role: 'user', content: 'hi' }] as const;
const rendered = (source: string): string => new ChatTemplate(source).renderChat(chat, []);
const loop = (times: number, body: string): string =>
  `{% for i in range(${times}) %}${body}{% endfor %}`;
const longText = '{% set s = range(100000) | join(" ") %}';
const doubledList =
  '{% set ns = namespace(a=[1]) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}';
const long = /a text has \d+ characters; at most \d+ are allowed/;
const steps = /it is not done after 4\d{6} steps/;

test.each<[string, string, RegExp]>([
  [
    'a range without end',
    loop(99_999_999_999, 'x'),
    /range\(0, 99999999999, 1\) has 99999999999 it/,
  ],
  ['loops in loops', loop(100_000, loop(100_000, '')), steps],
  [
    'a macro that calls itself twice',
    '{% macro f(n) %}{% if n > 0 %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(40) }}',
    steps,
  ],
  [
    'a text that doubles',
    `{% set ns = namespace(a="x") %}${loop(60, '{% set ns.a = ns.a ~ ns.a %}')}`,
    /a text has \d+ characters; at most 10\d{5} are allowed/,
  ],
  [
    'a list that doubles',
    `{% set ns = namespace(a=[1]) %}${loop(60, '{% set ns.a = ns.a + ns.a %}')}`,
    /it is not done|a list has \d+ items/,
  ],
  ['a list that holds one list many times, as JSON', `${doubledList}{{ ns.a | tojson }}`, long],
  ['the same as text', `${doubledList}{{ ns.a }}`, long],
  [
    'two such lists compared',
    `${doubledList}{% set b = ns.a %}${doubledList}{% if ns.a == b %}{% endif %}`,
    steps,
  ],
  [
    'lists in lists without end',
    `{% set ns = namespace(a=[]) %}${loop(1000, '{% set ns.a = [ns.a] %}')}{{ ns.a }}`,
    /it is nested; at most 200 are allowed/,
  ],
  [
    'a macro that calls itself without end',
    '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}',
    /it is nested; at most 200 are allowed/,
  ],
  ['an integer of many digits', '{{ 10 ** (10 ** 10) }}', /an integer of more than 65536 bits/],
  ['a text repeated often', '{{ "ab" * 10 ** 12 }}', /a text has 2000000000000 characters/],
  [
    'a long text replaced in a long text',
    '{% set s = range(100000) | join("x") %}{{ s | replace("x", s) }}',
    /a text has \d+ characters/,
  ],
  ['a long text split often', longText + loop(100_000, '{% set t = s.split(" ") %}'), steps],
  ['a long text looked through often', longText + loop(100_000, '{{ "q" in s }}'), steps],
  [
    'a long text made only to be measured',
    '{% set s = range(100000) | join("x") %}{{ s | replace("x", s) | length }}',
    /a text has \d+ characters/,
  ],
  [
    'a long text made only to be tested',
    '{% set s = range(100000) | join("x") %}{% if s.replace("x", s) %}{% endif %}',
    /a text has \d+ characters/,
  ],
  ['a long list sorted often', loop(1000, '{% set b = range(100000) | sort %}'), steps],
])('%s ends with an error that says so', (_, source, message) => {
  const error = thrownBy(() => rendered(source));
  expect(error).toMatchObject({ code: 'TOKENIZER_INVALID' });
  expect(error.message).toMatch(message);
});

test('a template of more than a mebibyte of characters is not parsed', () => {
  expect(thrownBy(() => rendered(' '.repeat(2 ** 20 + 1)))).toMatchObject({
    code: 'TOKENIZER_INVALID',
    message: expect.stringMatching(/it has 1048577 characters; at most 1048576 are read/),
  });
});

test('a template may look back from each of 400 long messages, and count them', () => {
  const source =
    '{% for m in messages %}{% for other in messages %}{% if other.role == "tool" and other.content == m.content %}!{% endif %}{% endfor %}{{ messages | length }}{{ m.content }}{% endfor %}';
  const messages = Array.from({ length: 400 }, () => ({ role: 'user', content: 'x'.repeat(2000) }));
  const text = new ChatTemplate(source).renderRaw(messages, undefined);
  expect(text).toHaveLength(400 * 2003);
});

test.each([
  ['{{ range(3) | join }}{{ range(2, 5) | join }}{{ range(5, 0, -2) | join }}', '012234531'],
  ['{{ range(0) | length }}{{ True }}{{ None is none }}', '0TrueTrue'],
])('%s is what Python gives', (source, text) => {
  expect(rendered(source)).toBe(text);
});
