import '../src/supported-node.mjs';
import { defineConfig } from 'vitest/config';
import { compiledSources } from './support/compiled-sources.ts';
import { LongestFirst } from './support/longest-first.ts';

const root = new URL('..', import.meta.url).pathname;

/** Two processes on one database need a server that both can reach: only the PostgreSQL run has them. */
const twoProcess =
  process.env.TEST_DATABASE_URL === undefined ? [] : ['test/two-process/**/*.test.ts'];

/**
 * The projects run one after the other, but for those of the same `groupOrder`. Files of one worker share their modules:
 * loading them anew for each file takes longer than most tests. test/README.md says what belongs where.
 */
export default defineConfig({
  root,
  test: {
    // A passing poll takes as long as its subject: the bound only tells a slow machine from a hang.
    expect: { poll: { timeout: 15_000 } },
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Tests of one file that are said to be concurrent wait for telephone calls most of the time.
    maxConcurrency: 20,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/tidy.test.ts'],
          testTimeout: 10_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          testTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        plugins: [compiledSources],
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/compiled.ts', 'test/support/global-database.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Many of them wait for a pause of the product, so that two cores serve three.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        plugins: [compiledSources],
        test: {
          name: 'process',
          include: ['test/process/**/*.test.ts', ...twoProcess],
          globalSetup: ['test/support/compiled.ts', 'test/support/global-database.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // They wait for leases and exits most of the time.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        plugins: [compiledSources],
        test: {
          name: 'timed',
          include: ['test/timed/**/*.test.ts'],
          globalSetup: ['test/support/compiled.ts', 'test/support/global-database.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // One at a time, each in a process of its own: they measure sound, memory and the event loop.
          maxWorkers: 1,
          isolate: true,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
