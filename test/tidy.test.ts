import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** The architecture: what stands on a lower floor never imports from a higher one. */
const FLOORS: Readonly<Record<string, number>> = {
  'src/kernel': 0,
  'src/config.ts': 0,
  'src/config': 0,
  machines: 1,
  media: 1,
  'src/ledger': 1,
  'src/policy': 1,
  'src/x402': 1,
  'src/store': 2,
  'src/chain': 2,
  'src/egress': 2,
  'src/rails': 2,
  'src/engines': 2,
  'src/agents': 3,
  'src/attribution': 3,
  'src/developers': 3,
  'src/keys': 3,
  'src/provider-keys': 3,
  'src/proxy': 3,
  'src/gateway': 3,
  'src/webhooks': 3,
  'src/controls': 3,
  'src/payouts': 3,
  'src/admin': 3,
  'src/actors': 4,
  'src/workers': 4,
  'src/http': 5,
  'src/routes': 5,
  'src/sockets': 5,
  'src/world': 6,
  'src/server.ts': 6,
  'src/main.ts': 6,
  'src/supported-node.mjs': 0,
  'src/local-secrets.ts': 6,
  'src/run-server.ts': 6,
  'src/commands': 6,
};

const VISIBLE_TOP_LEVEL = [
  'LICENSE',
  'README.md',
  'bench',
  'docs',
  'machines',
  'media',
  'migrations',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tsconfig.json',
];

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isSource = (path: string) => path.endsWith('.ts') || path.endsWith('.mjs');
const SOURCES = ['src', 'machines', 'media'].flatMap(filesBelow).filter(isSource);
const ALL_CODE = [
  ...SOURCES,
  ...['test', 'bench', 'migrations'].flatMap(filesBelow).filter(isSource),
];

function floorOf(path: string): number | undefined {
  const place = Object.keys(FLOORS).find((name) => path === name || path.startsWith(`${name}/`));
  return place === undefined ? undefined : FLOORS[place];
}

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(path), match[1] as string)),
  );
}

/** Lines of each function, measured from its opening brace to the brace at the same indentation. */
function longFunctions(path: string): string[] {
  const lines = read(path).split('\n');
  const found: string[] = [];
  lines.forEach((line, start) => {
    const opens =
      /^(\s*)(?:export )?(?:async )?(?:function\b|(?:static |async |#|get |set )*[\w#]+\(.*\).*\{$|const \w+ = (?:async )?\(.*=> \{$)/.exec(
        line,
      );
    if (opens === null || !line.trimEnd().endsWith('{')) return;
    if (/^\s*(if|for|while|switch|return|describe|it|test)\b/.test(line)) return;
    const end = lines.findIndex((other, i) => i > start && other.startsWith(`${opens[1]}}`));
    if (end - start > MAX_FUNCTION_LINES) found.push(`${path}:${start + 1} (${end - start} lines)`);
  });
  return found;
}

describe('the house', () => {
  it('has a floor for every source file', () => {
    expect(SOURCES.filter((path) => floorOf(path) === undefined)).toEqual([]);
  });

  it('imports downwards only', () => {
    const upward = SOURCES.flatMap((path) =>
      importsOf(path)
        .filter((target) => (floorOf(target) ?? 0) > (floorOf(path) ?? 0))
        .map((target) => `${path} -> ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it('keeps every file and function to a readable size', () => {
    const lines = (path: string) => read(path).split('\n').length;
    expect(ALL_CODE.filter((path) => lines(path) > MAX_FILE_LINES)).toEqual([]);
    expect(SOURCES.flatMap(longFunctions)).toEqual([]);
    const sizes = SOURCES.map(lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThanOrEqual(240);
  });

  it('shows nothing at the top level beyond the fixed map', () => {
    const visible = readdirSync(ROOT).filter(
      (name) => !name.startsWith('.') && !['node_modules', 'dist', 'coverage'].includes(name),
    );
    expect(visible.filter((name) => !VISIBLE_TOP_LEVEL.includes(name))).toEqual([]);
  });

  it('has no folder for odds and ends and no barrel', () => {
    const folders = SOURCES.flatMap((path) => path.split('/').slice(0, -1));
    expect(
      folders.filter((name) => /^(utils?|helpers?|common|managers?|misc|lib)$/.test(name)),
    ).toEqual([]);
    const indexes = SOURCES.filter((path) => path.endsWith('/index.ts'));
    expect(indexes.filter((path) => path !== 'src/routes/index.ts')).toEqual([]);
  });
});

/** What may stand in one place only, and that place. */
const RESERVED: readonly { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: 'the wall clock',
    pattern: /\bDate\.now\(|\bnew Date\(\)|performance\.now\(/,
    allowed: /kernel\/clock\.ts$/,
  },
  {
    what: 'timers',
    pattern: /(?<![.\w])(setTimeout|setInterval|setImmediate)\(/,
    allowed: /kernel\/(manual-)?clock\.ts$/,
  },
  {
    what: 'chance',
    pattern: /Math\.random\(|\brandomBytes\(|\brandomUUID\(/,
    allowed: /kernel\/random\.ts$/,
  },
  { what: 'the environment', pattern: /process\.env\b/, allowed: /^src\/config\.ts$/ },
  { what: 'the network', pattern: /(?<![.\w])fetch\(/, allowed: /^src\/egress\// },
  {
    what: 'uWebSockets.js',
    pattern: /from 'uWebSockets\.js'|import\('uWebSockets\.js'\)/,
    allowed: /^src\/(http|sockets)\//,
  },
];

describe('the rules of the house', () => {
  for (const { what, pattern, allowed } of RESERVED) {
    it(`reaches ${what} in its own place only`, () => {
      const offenders = SOURCES.filter(
        (path) => path.endsWith('.ts') && !allowed.test(path),
      ).filter((path) =>
        read(path)
          .split('\n')
          .some((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && pattern.test(line)),
      );
      expect(offenders).toEqual([]);
    });
  }

  it('keeps SQL in the store and in *-store files', () => {
    const sql = /\b(sql|tx)`|`\s*(select|insert into|update|delete from) /i;
    const offenders = SOURCES.filter(
      (path) =>
        !path.startsWith('src/store/') && !path.endsWith('-store.ts') && sql.test(read(path)),
    );
    expect(offenders).toEqual([]);
  });

  it('leaves no marker, no focused and no skipped test behind', () => {
    const marker = new RegExp(
      ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].map((word) => `\\b${word}\\b`).join('|'),
    );
    const skipped = new RegExp(
      `\\b(it|test|describe)\\.(${['sk' + 'ip', 'on' + 'ly', 'to' + 'do'].join('|')})\\b`,
    );
    expect(ALL_CODE.filter((path) => marker.test(read(path)))).toEqual([]);
    expect(
      ALL_CODE.filter((path) => path.endsWith('.test.ts') && skipped.test(read(path))),
    ).toEqual([]);
  });

  it('gives every source file a test of its own, or names why not', () => {
    const tests = filesBelow('test').filter((path) => path.endsWith('.test.ts'));
    const reached = reachedByTests(tests);
    const exempt = Object.keys(JSON.parse(read('test/untested.json')) as Record<string, string>);
    const untested = SOURCES.filter(
      (path) => path.endsWith('.ts') && hasBehaviour(path) && !reached.has(path),
    );
    expect(untested.filter((path) => !exempt.includes(path))).toEqual([]);
    expect(exempt.filter((path) => !untested.includes(path))).toEqual([]);
  });
});

/** Types, tables and constants alone have nothing that a test could see fail. */
const hasBehaviour = (path: string) =>
  !path.startsWith('src/store/tables/') && /\bfunction\b|=> [^;]*$|\bclass\b/m.test(read(path));

/** How far behind a tested file a part of it may stand and still count as tested with it. */
const PARTS_DEEP = 2;

/** Every source file that a test imports, itself or through test/support, and the parts those are made of. */
function reachedByTests(tests: readonly string[]): Set<string> {
  const depth = new Map<string, number>();
  const walk = (path: string, at: number) => {
    const known = depth.get(path);
    if (known !== undefined && known <= at) return;
    depth.set(path, at);
    if (at > PARTS_DEEP) return;
    const isTest = path.startsWith('test/');
    for (const target of importsOf(path)) {
      if (statSafe(target)) walk(target, isTest && target.startsWith('test/') ? 0 : at + 1);
    }
  };
  for (const test of tests) walk(test, 0);
  return new Set(depth.keys());
}

function statSafe(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() ?? false;
}
