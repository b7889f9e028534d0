import '../src/supported-node.mjs';
import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;

/** Two processes on one database need a server that both can reach: only the PostgreSQL run has them. */
const twoProcess =
  process.env.TEST_DATABASE_URL === undefined ? [] : ['test/two-process/**/*.test.ts'];

export default defineConfig({
  root,
  test: {
    expect: { poll: { timeout: 5_000 } },
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
          name: 'acceptance',
          include: ['test/acceptance/**/*.test.ts', ...twoProcess],
          globalSetup: ['test/support/global-database.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // One at a time: these tests time real sound and real processes on whatever cores there are.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          testTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
