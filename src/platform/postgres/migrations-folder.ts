import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Finds `migrations/` beside or above this file, so that it works from the sources and from `dist/`. */
export function migrationsFolder(from = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'migrations');
    if (existsSync(join(candidate, 'meta', '_journal.json'))) return candidate;
    if (folder === dirname(folder)) {
      throw new Error('The migrations folder is missing: it must lie beside package.json.');
    }
  }
}
