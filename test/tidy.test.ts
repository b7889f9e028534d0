import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesWithoutSubject, riddlesOf } from './support/riddles.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The domains. Each imports from those above it alone. A path belongs to the longest entry that it lies in. */
const DOMAINS: readonly string[] = [
  'src/supported-node.mjs',
  'src/kernel',
  'src/config',
  'machines',
  'media',
  'src/x402',
  'src/platform/postgres',
  'src/platform/messages',
  'src/platform/egress',
  'src/platform/mail',
  'src/platform/chain',
  'src/platform/tracing',
  'src/policy',
  'src/ledger/rules',
  'src/ledger/store',
  'src/ledger/engine',
  'src/webhooks',
  'src/engines',
  'src/accounts',
  'src/http/route',
  'src/rate-limit',
  'src/idempotency',
  'src/spend',
  'src/commerce',
  'src/memory',
  'src/payments',
  'src/credit',
  'src/accounts/management',
  'src/models',
  'src/marketplace',
  'src/voice',
  'src/voice/recording',
  'src/voice/relay',
  'src/phone',
  'src/protocols',
  'src/orchestrators',
  'src/reports',
  'src/http',
  'src/sockets',
  'src/routes',
  'src/mcp',
  'src/dashboard',
  'src/app',
  'src/main.ts',
];

/** Domains that have their place and no file yet; docs/architecture.md says what each will hold. */
const PLANNED: readonly string[] = ['src/commerce', 'src/credit', 'src/dashboard'];

/** Code with SQL in it, apart from the `*-store.ts` files. */
const SQL_FOLDERS = ['src/platform/postgres/', 'src/ledger/store/'];

const MAX_FILES_IN_A_FOLDER = 25;

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

/** True where `text` spreads a literal. A list that is read or mapped first is none, and neither are parameters. */
function spreadsLiteral(text: string): boolean {
  return [...text.matchAll(/\.\.\.([{[])/g)].some(({ 1: opening, index }) => {
    if (opening === '{') return true;
    let depth = 0;
    let at = index + 3;
    do {
      if (text[at] === '[') depth++;
      if (text[at] === ']') depth--;
      at++;
    } while (depth > 0 && at < text.length);
    return /^\s*[,)\]]/.test(text.slice(at, at + 200));
  });
}

/** The place of a path's domain in their order; -1 where it has none. */
function domainOf(path: string): number {
  const inside = DOMAINS.filter((name) => path === name || path.startsWith(`${name}/`));
  const longest = inside.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? -1 : DOMAINS.indexOf(longest);
}

/** The files that each file imports, types included. */
type Graph = ReadonlyMap<string, readonly string[]>;

const arrows = (graph: Graph, isWrong: (from: string, to: string) => boolean): string[] =>
  [...graph].flatMap(([from, targets]) =>
    targets.filter((to) => isWrong(from, to)).map((to) => `${from} -> ${to}`),
  );

const upwardImports = (graph: Graph): string[] =>
  arrows(graph, (from, to) => domainOf(to) > domainOf(from));

/** `*-store.ts` is the domain's own: others ask a function of the domain. The app, which builds them all, may. */
const foreignStores = (graph: Graph): string[] => {
  const folderOf = (path: string) => /^src\/(platform\/)?[^/]+/.exec(path)?.[0];
  return arrows(
    graph,
    (from, to) =>
      to.endsWith('-store.ts') && folderOf(from) !== 'src/app' && folderOf(from) !== folderOf(to),
  );
};

/** The files of each ring of imports, by the first ring that a file is found in. */
function fileRings(graph: Graph): string[][] {
  const done = new Set<string>();
  const rings: string[][] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      rings.push([...trail.slice(at), path]);
      return;
    }
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return rings;
}

const crowdedFolders = (paths: readonly string[]): string[] =>
  paths.map(dirname).filter((folder, i, all) => {
    return all.slice(0, i).filter((other) => other === folder).length === MAX_FILES_IN_A_FOLDER;
  });

/** Folders that hold one file and nothing else. Below `src/routes` the URL asks for them. */
const lonelyFolders = (paths: readonly string[]): string[] =>
  paths.map(dirname).filter((folder) => {
    const held = paths.filter((path) => path.startsWith(`${folder}/`));
    return held.length === 1 && !folder.startsWith('src/routes/');
  });

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

const GRAPH: Graph = new Map(SOURCES.map((path) => [path, importsOf(path)]));

describe('the source tree', () => {
  it('every source file belongs to a domain, and every domain that is not planned has a file', () => {
    expect(SOURCES.filter((path) => domainOf(path) < 0)).toEqual([]);
    const used = new Set(SOURCES.map(domainOf));
    expect(DOMAINS.filter((_, i) => !used.has(i))).toEqual(PLANNED);
  });

  it('source files import only down the order of the domains', () => {
    expect(upwardImports(GRAPH)).toEqual([]);
    expect(upwardImports(new Map([['src/spend/a.ts', ['src/models/b.ts']]]))).toHaveLength(1);
    expect(upwardImports(new Map([['src/models/b.ts', ['src/spend/a.ts']]]))).toEqual([]);
  });

  it('source files import each other without cycles', () => {
    expect(fileRings(GRAPH)).toEqual([]);
    const ring = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(fileRings(ring)).toEqual([['b', 'c', 'b']]);
  });

  it('source files import the store of no other domain', () => {
    expect(foreignStores(GRAPH)).toEqual([]);
    const store = 'src/accounts/keys/key-store.ts';
    expect(foreignStores(new Map([['src/spend/a.ts', [store]]]))).toHaveLength(1);
    expect(foreignStores(new Map([['src/accounts/a.ts', [store]]]))).toEqual([]);
  });

  it('source folders hold 25 files at most, and more than one unless a URL asks for it', () => {
    expect(crowdedFolders(SOURCES)).toEqual([]);
    expect(lonelyFolders(SOURCES)).toEqual([]);
    expect(lonelyFolders(['src/a/b/c.ts', 'src/a/d.ts', 'src/routes/e/f.ts'])).toEqual(['src/a/b']);
    const crowd = Array.from({ length: MAX_FILES_IN_A_FOLDER + 1 }, (_, i) => `src/a/${i}.ts`);
    expect(crowdedFolders(crowd)).toEqual(['src/a']);
  });

  it('code files and source functions stay within their size limits', () => {
    const lines = (path: string) => read(path).split('\n').length;
    expect(ALL_CODE.filter((path) => lines(path) > MAX_FILE_LINES)).toEqual([]);
    expect(SOURCES.flatMap(longFunctions)).toEqual([]);
    const sizes = SOURCES.map(lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length * 0.9)]).toBeLessThanOrEqual(240);
  });

  it('the top level of the repository shows nothing beyond the fixed list', () => {
    const visible = readdirSync(ROOT).filter(
      (name) =>
        !name.startsWith('.') &&
        !['node_modules', 'dist', 'coverage', 'test-results'].includes(name),
    );
    expect(visible.filter((name) => !VISIBLE_TOP_LEVEL.includes(name))).toEqual([]);
  });

  it('the source tree has no folder for odds and ends and no barrel file', () => {
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
    allowed: /kernel\/clock\.ts$/,
  },
  {
    what: 'chance',
    pattern: /Math\.random\(|\brandomBytes\(|\brandomUUID\(/,
    allowed: /kernel\/random\.ts$/,
  },
  { what: 'the environment', pattern: /process\.env\b/, allowed: /^src\/config\/config\.ts$/ },
  { what: 'the network', pattern: /(?<![.\w])fetch\(/, allowed: /^src\/platform\/egress\// },
  {
    what: 'uWebSockets.js',
    pattern: /from 'uWebSockets\.js'|import\('uWebSockets\.js'\)/,
    allowed: /^src\/(http|sockets)\//,
  },
];

describe('the rules of the source tree', () => {
  for (const { what, pattern, allowed } of RESERVED) {
    it(`source files use ${what} in one allowed place only`, () => {
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

  it('source files have SQL only with the database and in *-store files', () => {
    const sql = /\b(sql|tx)`|`\s*(select|insert into|update|delete from) /i;
    const offenders = SOURCES.filter(
      (path) =>
        !SQL_FOLDERS.some((folder) => path.startsWith(folder)) &&
        !path.endsWith('-store.ts') &&
        sql.test(read(path)),
    );
    expect(offenders).toEqual([]);
  });

  it('code files spread no literal into a literal, which is slow and hides members (docs/decisions/0075)', () => {
    expect(ALL_CODE.filter((path) => spreadsLiteral(read(path)))).toEqual([]);
    const [inObject, inList, inCall] = ['f({ #{ a }, b })', '[#[a], b]', 'f(#[a, b])'];
    const free = 'f([#[a].map(g)], (#[a, b]: T) => 1, { #c })';
    const told = [inObject, inList, inCall, free].map((text) =>
      text.replaceAll('#', '.'.repeat(3)),
    );
    expect(told.map(spreadsLiteral)).toEqual([true, true, true, false]);
  });

  it('source comments begin with a noun or a verb and name persons and quantities', () => {
    const offenders = SOURCES.filter((path) => path.endsWith('.ts')).flatMap((path) =>
      riddlesOf(read(path)).map((line) => `${path}: ${line}`),
    );
    expect(offenders).toEqual([]);
    const told = [
      '/** What is paid. */',
      '/**\n * How it ends,\n */',
      '// held for so long',
      "'What'",
    ];
    expect(told.map((text) => riddlesOf(text).length)).toEqual([1, 1, 1, 0]);
  });

  it('a test has a name with a subject, so that it makes sense in a list of failures', () => {
    const tests = ALL_CODE.filter((path) => path.endsWith('.test.ts'));
    expect(tests.flatMap((path) => namesWithoutSubject(read(path)))).toEqual([]);
    expect(namesWithoutSubject(['it(', 'is paid once', ', () => {'].join("'"))).toHaveLength(1);
  });

  it('code files have no marker, and test files no focused or skipped test', () => {
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

  it('migrations/meta has one snapshot of the tables, that of the newest migration', () => {
    const journal = JSON.parse(read('migrations/meta/_journal.json'));
    const newest = String(journal.entries.length - 1).padStart(4, '0');
    const snapshots = filesBelow('migrations/meta').filter((path) => /\d_snapshot/.test(path));
    expect(snapshots).toEqual([`migrations/meta/${newest}_snapshot.json`]);
  });

  it('every source file has a test of its own or is listed in test/untested.json', () => {
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
  !path.startsWith('src/platform/postgres/tables/') &&
  /\bfunction\b|=> [^;]*$|\bclass\b/m.test(read(path));

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
      if (isFile(target)) walk(target, isTest && target.startsWith('test/') ? 0 : at + 1);
    }
  };
  for (const test of tests) walk(test, 0);
  return new Set(depth.keys());
}

const isFile = (path: string): boolean =>
  statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() ?? false;
