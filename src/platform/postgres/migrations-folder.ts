import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** A migration of the time before the baseline: its name, time in the journal, and hash of its text. */
const Earlier = z.object({ tag: z.string(), when: z.int(), sha256: z.string() });
const Journal = z.object({ entries: z.array(z.object({ tag: z.string(), when: z.int() })).min(1) });

/** The first migration, which makes the whole schema, and the migrations that it stands in for. */
export type Baseline = {
  readonly text: string;
  /** SHA-256 of `text` in hex, as the migrator keeps it. */
  readonly hash: string;
  readonly when: number;
  /** Oldest first. */
  readonly before: readonly z.infer<typeof Earlier>[];
};

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

export function readBaseline(): Baseline {
  const folder = migrationsFolder();
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const [first] = Journal.parse(JSON.parse(read('meta/_journal.json'))).entries;
  const text = read(`${first?.tag}.sql`);
  const before = z.array(Earlier).parse(JSON.parse(read('meta/_before_baseline.json')));
  const hash = createHash('sha256').update(text).digest('hex');
  return { text, hash, when: first?.when ?? 0, before };
}
