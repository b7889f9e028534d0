import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;

export type PrunedImage = Disposable & { readonly directory: string };

/** A copy of the sources beside a node_modules that lacks some packages, or everything of some scopes. */
export function prunedImage(without: readonly string[]): PrunedImage {
  const directory = mkdtempSync(join(tmpdir(), 'svc-pruned-'));
  for (const part of ['src', 'machines', 'media', 'migrations', 'package.json', 'tsconfig.json']) {
    cpSync(join(ROOT, part), join(directory, part), { recursive: true });
  }
  const modules = join(directory, 'node_modules');
  mkdirSync(modules);
  const link = (name: string) => {
    if (!without.includes(name)) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  };
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('@')) link(name);
    else if (!without.includes(name)) {
      mkdirSync(join(modules, name));
      for (const member of readdirSync(join(ROOT, 'node_modules', name))) link(`${name}/${member}`);
    }
  }
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
