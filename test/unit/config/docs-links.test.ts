import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configurationPage } from '../../../src/app/commands/docs/configuration-page.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const README_WORDS = 1_700;

/** The text of a page, true for a folder or a file that is no page, undefined for nothing. */
type Find = (path: string) => string | true | undefined;

const onDisk: Find = (path) => {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return path.endsWith('.md') ? readFileSync(join(ROOT, path), 'utf8') : true;
};

const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** What stands in fences and in code is no link and no heading. */
const withoutFences = (text: string) => text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '');

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(text: string): string[] {
  const counts = new Map<string, number>();
  return [...withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** The relative links of a page that lead nowhere. */
function brokenLinks(path: string, text: string, find: Find): string[] {
  const prose = withoutFences(text).replaceAll(/`[^`\n]*`/g, 'code');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#');
      const found = find(file === '' ? path : normalize(join(dirname(path), file)));
      if (found === undefined) return true;
      return anchor !== undefined && (found === true || !anchorsOf(found).includes(anchor));
    })
    .map((target) => `${path}: ${target}`);
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
const isWithin = (text: string, words: number) => wordsOf(text) <= words;
const isFresh = (page: string, written: string) => page === written;

/** Words that hide who does what. */
const vagueWords = (text: string) => text.match(/\b(nobody|somebody|whoever)\b/gi) ?? [];

describe('the documentation', () => {
  it('the documentation has no broken relative link', () => {
    expect(PAGES.flatMap((path) => brokenLinks(path, onDisk(path) as string, onDisk))).toEqual([]);
  });

  it('the README stays within its limit of words', () => {
    expect(isWithin(onDisk('README.md') as string, README_WORDS)).toBe(true);
  });

  it('the documentation has the page of variables that `npm run docs:configuration` writes', () => {
    expect(isFresh(onDisk('docs/configuration.md') as string, configurationPage())).toBe(true);
  });

  it('the documentation’s index links every page of API behaviour', () => {
    const folder = 'docs/api-behaviour';
    const index = onDisk(`${folder}/README.md`) as string;
    const pages = readdirSync(join(ROOT, folder)).filter((name) => name !== 'README.md');
    expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });

  it('the documentation has no word that hides who does what', () => {
    expect(PAGES.filter((path) => vagueWords(onDisk(path) as string).length > 0)).toEqual([]);
  });
});

describe('a check of the documentation', () => {
  const pages: Readonly<Record<string, string>> = {
    'docs/a.md':
      '# A page\n\n## `X-Header`, twice\n\n## Same\n\n## Same\n\n```sh\n# not a heading\n```\n',
  };
  const find: Find = (path) => (path === 'docs' ? true : pages[path]);
  const broken = (text: string) => brokenLinks('docs/b.md', text, find);

  it('the check of the documentation finds a link to a missing file', () => {
    expect(broken('see [a](a.md) and [c](c.md)')).toEqual(['docs/b.md: c.md']);
    expect(broken('[up](../docs) [out](../../a.md)')).toEqual(['docs/b.md: ../../a.md']);
  });

  it('the check of the documentation finds a link to a missing heading', () => {
    expect(broken('[a](a.md#a-page) [b](a.md#x-header-twice) [c](a.md#same-1)')).toEqual([]);
    expect(broken('[a](a.md#a-paje)')).toEqual(['docs/b.md: a.md#a-paje']);
    expect(broken('[a](a.md#not-a-heading)')).toEqual(['docs/b.md: a.md#not-a-heading']);
    expect(broken('[a](../docs#a-page)')).toEqual(['docs/b.md: ../docs#a-page']);
    expect(brokenLinks('docs/a.md', '[here](#gone)', find)).toEqual(['docs/a.md: #gone']);
  });

  it('the check of the documentation does not take URLs, code or code blocks for relative links', () => {
    expect(broken('[a](https://example.com/x) `[b](c.md)`\n```js\nf[0](gone.md)\n```\n')).toEqual(
      [],
    );
  });

  it('the check of the documentation finds a text with too many words', () => {
    expect(isWithin('one two\nthree', 3)).toBe(true);
    expect(isWithin('one two\nthree four', 3)).toBe(false);
  });

  it('the check of the documentation finds an outdated page of variables', () => {
    expect(isFresh(configurationPage(), configurationPage())).toBe(true);
    expect(isFresh(configurationPage().replace('`PORT`', '`PORTS`'), configurationPage())).toBe(
      false,
    );
  });

  it('the check of the documentation finds a word that hides who does what', () => {
    expect(vagueWords('Nobody sees it. The caller does.')).toEqual(['Nobody']);
  });
});
