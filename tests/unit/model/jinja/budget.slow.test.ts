import { expect, test } from '@jest/globals';

import { ChatTemplate } from '#model/text/chat-template.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const chat = [{ role: 'user', content: 'hi' }] as const;
const rendered = (source: string): string => new ChatTemplate(source).renderChat(chat, []);
const loop = (times: number, body: string): string =>
  `{% for i in range(${times}) %}${body}{% endfor %}`;
/** A statement that is repeated until the budget is spent. */
const often = (body: string): string => loop(100_000, `{% set n = ${body} %}`);
const longText = '{% set s = range(100000) | join(" ") %}';
const longEmoji = '{% set s = "🙂" * 500000 %}';
const doubledList =
  '{% set ns = namespace(a=[1]) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}';
const compared = `${doubledList}{% set b = ns.a %}${doubledList}{% if ns.a == b %}{% endif %}`;
const deeper = '{% set ns.a = [ns.a] %}{{ ns.a }}';
const grown = loop(100_000, '{% set ns.d = dict(ns.d, **{"a" ~ i: 1}) %}');
const joined = '{% set s = range(100000) | join("x") %}';
const namespaceOf = (first: string, body: string): string =>
  `{% set ns = namespace(a=${first}) %}${body}`;
const nested = /it is nested; at most 200 are allowed/;
const long = /a text has \d+ characters; at most \d+ are allowed/;
const longer = /it did not finish|a list has \d+ items/;
const steps = /it did not finish within 4\d{6} steps/;

test.each<[string, string, RegExp]>([
  ['a range without end', loop(99_999_999_999, 'x'), /range\(0, 99999999999, 1\) has 99999999999/],
  ['loops in loops', loop(100_000, loop(100_000, '')), steps],
  [
    'a macro that calls itself twice',
    '{% macro f(n) %}{% if n > 0 %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(40) }}',
    steps,
  ],
  ['a text that doubles', namespaceOf('"x"', loop(60, '{% set ns.a = ns.a ~ ns.a %}')), long],
  ['a list that doubles', namespaceOf('[1]', loop(60, '{% set ns.a = ns.a + ns.a %}')), longer],
  ['a list that holds one list many times, as JSON', `${doubledList}{{ ns.a | tojson }}`, long],
  ['the same as text', `${doubledList}{{ ns.a }}`, long],
  ['two such lists compared', compared, steps],
  ['endless lists in lists', namespaceOf('[]', loop(1000, deeper)), nested],
  ['a macro that calls itself', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', nested],
  ['an integer of many digits', '{{ 10 ** (10 ** 10) }}', /an integer of more than 65536 bits/],
  ['a text repeated often', '{{ "ab" * 10 ** 12 }}', /a text has 2000000000000 characters/],
  ['a long text replaced in a long text', `${joined}{{ s | replace("x", s) }}`, long],
  ['a long text split often', longText + often('s.split(" ")'), steps],
  ['a long text looked through often', longText + loop(100_000, '{{ "q" in s }}'), steps],
  ['a long text only measured', `${joined}{{ s | replace("x", s) | length }}`, long],
  ['a long text only tested', `${joined}{% if s.replace("x", s) %}{% endif %}`, long],
  ['a long text measured often', longEmoji + often('s | length'), steps],
  ['a character of a long text taken often', longEmoji + often('s[5]'), steps],
  ['a long text reversed often', longEmoji + often('s | reverse'), steps],
  ['a long text put in title case often', longEmoji + often('s.title()'), steps],
  ['a text that JSON writes longer', '{{ ("\u0001" * 1000000) | tojson }}', long],
  ['many control characters written as JSON often', often('("\u0001" * 170000) | tojson'), steps],
  ['many characters replaced often', often('("a" * 100000) | replace("a", "b")'), steps],
  ['many words cut off often', longText + often('s.rsplit(none, 1)'), steps],
  ['many prefixes', '{% set t = ("a", "b") * 100000 %}' + often('"x".startswith(t)'), steps],
  ['a long integer written often', often('(10 ** 4000) | string'), steps],
  ['a long integer read often', often('("1" * 4300) | int'), steps],
  ['a long list searched', '{% set l = range(100000) | list %}' + often('l.index(99999)'), steps],
  ['a dictionary that grows by copies', `{% set ns = namespace(d={}) %}${grown}`, steps],
  ['long texts sorted', '{% set l = ["Ä" * 300000] * 100000 %}{{ l | sort | length }}', steps],
  ['a date in a long format often', often('strftime_now("%d" * 500000)'), steps],
  ['items by a long path', '{{ [] | sort(attribute="a," * 500000) }}', steps],
  ['a list filled up to a million', often('[1] | batch(1000000, 0)'), steps],
  ['a format that writes a long text often', '{{ ("%(a)s" * 5000) % {"a": "x" * 100000} }}', steps],
  ['a long list sorted often', loop(1000, '{% set b = range(100000) | sort %}'), steps],
])('a template with %s is stopped with an error', (_, source, message) => {
  expect(thrownBy(() => rendered(source))).toMatchObject(errorOf('TOKENIZER_INVALID', message));
});

test('a template of more than a mebibyte of characters is not parsed', () => {
  expect(thrownBy(() => rendered(' '.repeat(2 ** 20 + 1)))).toMatchObject(
    errorOf('TOKENIZER_INVALID', 'it has 1048577 characters; at most 1048576 are allowed'),
  );
});

test.each<[string, string, RegExp]>([
  ['brackets', `{{ ${'['.repeat(5000)}${']'.repeat(5000)} }}`, /line 1: at most 70 nested levels/],
  ['signs', `{{ ${'-'.repeat(5000)}1 }}`, /line 1: at most 70 nested levels/],
  ['conditions', '{% if x %}'.repeat(5000), /line 1: at most 70 nested levels/],
  // Python compiles 20.
  ['loops', '{% for x in y %}'.repeat(21) + '{% endfor %}'.repeat(21), /at most 20 nested loops/],
  ['operators', `{{ ${'x + '.repeat(5000)}1 }}`, /150 nested expressions/],
  [
    'branches that assign',
    Array.from({ length: 5000 }, (_, i) => `{% if x %}{% set a${i} = 1 %}{% endif %}`).join(''),
    /it assigns too many names in too many branches/,
  ],
])('a template of too many %s is not parsed', (_, source, message) => {
  const error = thrownBy(() => new ChatTemplate(source));
  expect(error).toMatchObject(errorOf('TOKENIZER_INVALID', message));
});

test('a macro that is defined often is checked once', () => {
  const body = '{% if 0 %}{{ 1 }}{% endif %}'.repeat(3000);
  expect(rendered(loop(10_000, `{% macro f() %}${body}{% endmacro %}`))).toBe('');
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
])('the template %s renders as in Python', (source, text) => {
  expect(rendered(source)).toBe(text);
});
