import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Compiles with a TypeScript configuration whose `outDir` is `out`, and copies the `.mjs` and `.patch` files, which the
 * compiler skips.
 */
export function compile(configuration: string, out: string): void {
  rmSync(out, { recursive: true, force: true });
  const tsc = ['node_modules/typescript/bin/tsc', '-p', configuration];
  execFileSync(process.execPath, tsc, { cwd: ROOT, stdio: 'inherit' });
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (/\.(?:mjs|patch)$/.test(file)) cpSync(join(ROOT, 'src', file), join(out, 'src', file));
  }
}
