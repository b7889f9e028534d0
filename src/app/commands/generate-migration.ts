import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './compile.ts';

const META = join(ROOT, 'migrations/meta');

/** Writes a migration with drizzle-kit. Keeps the newest snapshot of the tables alone, because no other is compared with. */
export function generateMigration(options: readonly string[]): void {
  const generate = ['drizzle-kit', 'generate', '--config', 'migrations/drizzle.config.ts'];
  execFileSync('npx', [...generate, ...options], { cwd: ROOT, stdio: 'inherit' });
  const snapshots = readdirSync(META)
    .filter((name) => name.endsWith('_snapshot.json'))
    .sort();
  for (const name of snapshots.slice(0, -1)) rmSync(join(META, name));
}
