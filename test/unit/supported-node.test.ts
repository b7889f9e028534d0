import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../..', import.meta.url);
const MODULE = new URL('src/supported-node.mjs', ROOT).href;

/** Loads the module in a process that takes itself for another Node.js, on another C library. */
function loadedBy(version: string, glibc?: string) {
  const report = JSON.stringify({ header: { glibcVersionRuntime: glibc } });
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
    Object.defineProperty(process, 'report', { value: { getReport: () => (${report}) } });`;
  const code = `${pretend} await import('${MODULE}'); console.log('went on');`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', code],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

it.each(['18.20.8', '20.18.3', '21.7.3', '23.0.0', '25.9.0', '27.0.0'])(
  'Node.js %s is refused in one sentence, before anything is loaded',
  (version) => {
    expect(loadedBy(version)).toEqual({
      status: 1,
      stdout: '',
      stderr: `This server needs Node.js 20.19, 22, 24 or 26; this is ${version}.\n`,
    });
  },
);

it.each(['24.0.0', '26.10.0'])(
  'Node.js %s is refused in one sentence where the C library is too old for its binaries',
  (version) => {
    const [major] = version.split('.');
    expect(loadedBy(version, '2.36')).toEqual({
      status: 1,
      stdout: '',
      stderr: `On Node.js ${major} this server needs glibc 2.38; this is 2.36: use Node.js 20.19 or 22 here.\n`,
    });
    expect(loadedBy(version, '2.38')).toEqual({ status: 0, stdout: 'went on\n', stderr: '' });
  },
);

it.each(['20.19.0', '22.1.0', '24.0.0', '26.10.0'])('Node.js %s is taken', (version) => {
  expect(loadedBy(version)).toEqual({ status: 0, stdout: 'went on\n', stderr: '' });
});

it('every command of the package asks it first, in a form that the oldest Node.js can read', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(Object.keys(scripts).length).toBeGreaterThanOrEqual(17);
  for (const [name, command] of Object.entries(scripts)) {
    expect([name, command]).toEqual([
      name,
      expect.stringMatching(/^node \.\/src\/supported-node\.mjs && /),
    ]);
  }
});
