import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setup as compileAll } from '../test/support/compiled.ts';
import { type BenchRow, figureOf } from './bench-row.ts';

/**
 * `npm run bench [-- name[:part,…] …]`: runs the benches named, or all, and adds one line each to results.md. Parts are for
 * benches that have them, such as `turn-taking-hard:backchannels,interruptions`.
 */

type Bench = {
  readonly name: string;
  run(parts: readonly string[]): Promise<readonly BenchRow[]>;
  /** The bench can run some of its parts alone. */
  readonly hasParts?: boolean;
};

const BENCHES: readonly Bench[] = [
  { name: 'ledger', run: async () => (await import('./ledger.bench.ts')).benchLedger() },
  { name: 'lone', run: async () => (await import('./lone.bench.ts')).benchLone() },
  { name: 'growth', run: async () => (await import('./growth.bench.ts')).benchGrowth() },
  { name: 'sockets', run: async () => (await import('./sockets.bench.ts')).benchSockets() },
  { name: 'realtime', run: async () => (await import('./realtime.bench.ts')).benchRealtime() },
  { name: 'cascade', run: async () => (await import('./cascade.bench.ts')).benchCascade() },
  { name: 'gateway', run: async () => (await import('./gateway.bench.ts')).benchGateway() },
  { name: 'tracing', run: async () => (await import('./tracing.bench.ts')).benchTracing() },
  { name: 'streams', run: async () => (await import('./streams.bench.ts')).benchStreams() },
  { name: 'dialects', run: async () => (await import('./dialects.bench.ts')).benchDialects() },
  { name: 'payments', run: async () => (await import('./payments.bench.ts')).benchPayments() },
  { name: 'reconcile', run: async () => (await import('./reconcile.bench.ts')).benchReconcile() },
  { name: 'engines', run: async () => (await import('./engines.bench.ts')).benchEngines() },
  { name: 'calls', run: async () => (await import('./calls.bench.ts')).benchCalls() },
  {
    name: 'turn-taking',
    run: async () => (await import('./turn-taking.bench.ts')).benchTurnTaking(),
  },
  {
    name: 'turn-taking-hard',
    hasParts: true,
    run: async (parts) => (await import('./turn-taking-hard.bench.ts')).benchHardTurns(parts),
  },
  { name: 'barge-in', run: async () => (await import('./barge-in.bench.ts')).benchBargeIn() },
  { name: 'handover', run: async () => (await import('./handover.bench.ts')).benchHandover() },
  { name: 'phone', run: async () => (await import('./phone.bench.ts')).benchPhone() },
  { name: 'webhooks', run: async () => (await import('./webhooks.bench.ts')).benchWebhooks() },
  { name: 'memory', run: async () => (await import('./memory.bench.ts')).benchMemory() },
  { name: 'pgvector', run: async () => (await import('./pgvector.bench.ts')).benchPgvector() },
  { name: 'reports', run: async () => (await import('./reports.bench.ts')).benchReports() },
  { name: 'media', run: async () => (await import('./media.bench.ts')).benchMedia() },
];

const RESULTS = new URL('./results.md', import.meta.url);

function show(rows: readonly BenchRow[]): void {
  for (const row of rows) {
    const { bar, what, note } = row;
    console.log(
      `  ${bar.padEnd(4)} ${what.padEnd(58)} ${figureOf(row).padStart(18)}  ${note ?? ''}`,
    );
  }
}

/** One line a run: when, on what, which commit, and the figures that a bar speaks of. */
function keep(name: string, rows: readonly BenchRow[]): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length}× ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
  const figures = rows.map((row) => `${row.bar} ${row.what}: ${figureOf(row)}`);
  const day = new Date().toISOString().slice(0, 10);
  appendFileSync(
    RESULTS,
    `| ${day} | ${commit} | ${machine} | ${name} | ${figures.join('; ')} |\n`,
  );
}

const asked = process.argv.slice(2).map((argument) => {
  const [name = '', parts] = argument.split(':');
  return { name, parts: parts?.split(',') ?? [], argument };
});
const unknown = asked
  .filter(
    ({ name, parts }) =>
      !BENCHES.some((bench) => bench.name === name && (parts.length === 0 || bench.hasParts)),
  )
  .map(({ argument }) => argument);
if (unknown.length > 0) {
  console.error(
    `no bench named ${unknown.join(', ')}; there are ${BENCHES.map((b) => b.name).join(', ')}`,
  );
  process.exitCode = 1;
} else {
  await compileAll();
  for (const bench of BENCHES) {
    const order = asked.find(({ name }) => name === bench.name);
    if (asked.length > 0 && order === undefined) continue;
    const title = order?.argument ?? bench.name;
    console.log(`\n${title} …`);
    const rows = await bench.run(order?.parts ?? []);
    show(rows);
    keep(title, rows);
  }
}
