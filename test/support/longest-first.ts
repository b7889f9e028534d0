import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOT } from '../../src/app/commands/compile.ts';

/** Short files that run for long: a process or a chain comes up for each of a few rows. The longest stands first. */
const LONG = [
  'proxy-survives-kill',
  'voice-survives-kill',
  'payouts-survive-kill',
  'cascade-survives-kill',
  'whole-drain',
  'webhooks-survive-kill',
  'survives-kill',
  'idempotency-survives-kill',
  'gateway-router-survives-kill',
  'policy-churn',
].map((name) => join(ROOT, `test/process/${name}.test.ts`));

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONG.indexOf(moduleId);
  return at < 0 ? LONG.length : at;
};

/**
 * Where Vitest remembers no durations, as after `npm ci`, it begins with the largest file and ends with the smallest. One
 * that is small and takes a minute would then run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONG.filter((file) => !existsSync(file));
    if (gone.length > 0) throw new Error(`no such test: ${gone.join(', ')}`);
    const sorted = await super.sort(files);
    // Those of a project stay together: its workers share what they have loaded.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((a, b) => rank(a) - rank(b)),
    );
  }
}
