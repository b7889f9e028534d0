import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEEPGRAM_RULES, deepgramObjection } from '../../support/strict/deepgram-rules.ts';
import { ALL_RULES } from '../../support/strict/judge.ts';
import { JSON_RULES, type Rule } from '../../support/strict/rule.ts';

const rows = Object.entries(ALL_RULES).flatMap(([vendor, rules]) =>
  rules.map((rule, at) => ({ vendor, at, rule })),
);

const judge = ({ broken, objection, under = {} }: Rule) =>
  objection({ path: '', headers: under, text: JSON.stringify(broken), body: broken });

const SUPPORT = resolve(import.meta.dirname, '../../support');

describe('the upstreams of the tests that are asked for text', () => {
  it('every test upstream for text models checks the vendors’ rules before it answers', () => {
    const answering = readdirSync(SUPPORT)
      .filter((name) => name.endsWith('-upstream.ts'))
      .map((name) => [name, readFileSync(join(SUPPORT, name), 'utf8')] as const)
      .filter(([, source]) => /chat\.completion|\/messages|\/responses/.test(source))
      .filter(([, source]) => source.includes('createServer'));
    expect(answering.map(([name]) => name)).toEqual([
      ...['anthropic', 'openai', 'responses', 'stream'].map((name) => `${name}-upstream.ts`),
    ]);
    for (const [, source] of answering) expect(source).toMatch(/bjectionTo\(|vendorsObjection\(/);
  });
});

describe('the rules of the strict upstreams', () => {
  it.each(rows)('the strict upstreams’ rule $at of $vendor refuses its own example', ({ rule }) => {
    expect(judge(rule)).toBeTypeOf('string');
  });

  it.each(rows)(
    'the strict upstreams’ rule $at of $vendor names its vendor’s documentation page',
    ({ rule }) => {
      expect(rule.source).toMatch(/^https:\/\//);
    },
  );

  it.each(DEEPGRAM_RULES)(
    'the strict Deepgram upstream refuses the query $broken',
    ({ broken, objection, source }) => {
      const url = new URL(broken, 'http://vendor');
      expect(objection(url.searchParams, url.pathname)).toBeTypeOf('string');
      expect(deepgramObjection(url)).toBeTypeOf('string');
      expect(source).toMatch(/^https:\/\//);
    },
  );

  it('the strict upstreams of all vendors refuse a lone surrogate', () => {
    const [lone] = JSON_RULES;
    const text = (value: string) => ({
      path: '',
      headers: {},
      body: {},
      text: JSON.stringify(value),
    });
    expect(
      ['\ud83d', '\ude00', '\ude00\ud83d', '\ud83d \ude00'].map((one) =>
        lone?.objection(text(one)),
      ),
    ).toEqual(Array(4).fill('The request body is not valid JSON: no low surrogate in string'));
    expect(lone?.objection(text('\ud83d\ude00 \\ud83d'))).toBeUndefined();
    const escaped = { path: '', headers: {}, body: {}, text: '"\\ud83d\\ude00"' };
    expect(lone?.objection(escaped)).toBeUndefined();
  });
});
