import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseWav, wavSamples } from '../../media/wav.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const PROMISED_MS = 60_000;
/** Before the test's own bound, so that a demo that hangs is not left behind. */
const ENDED_AFTER_MS = 110_000;

async function runDemo() {
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/commands/demo.ts'], {
    ...{ cwd: ROOT, timeout: ENDED_AFTER_MS, killSignal: 'SIGKILL' },
  });
  let output = '';
  const keep = (text: Buffer) => {
    output += text;
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [code] = await once(child, 'exit');
  return { code, output, tookMs: performance.now() - startedMs };
}

const usdc = (output: string, label: string) =>
  BigInt(
    (new RegExp(`${label}\\s+(\\d+\\.\\d{6}) USDC`).exec(output)?.[1] ?? 'none').replace('.', ''),
  );

describe('npm run demo', () => {
  it('speaks, is answered with the true balance, accounts for every unit, and ends in a minute', async () => {
    const { code, output, tookMs } = await runDemo();
    expect(code, output).toBe(0);
    expect(tookMs).toBeLessThan(PROMISED_MS);

    const before = usdc(output, 'balance before');
    const after = usdc(output, 'balance after');
    expect(before).toBe(5_000_000n);
    expect(before - after).toBe(usdc(output, 'spent'));
    expect(before).toBeGreaterThan(after);

    // The balance at the question: everything not yet consumed, its own reserve aside.
    const answered = /answered: "(.*)"/.exec(output)?.[1] ?? '';
    expect(answered).toMatch(/balance is 4 dollars and 9\d cents/);

    const file = /sound: (\S+\.wav)/.exec(output)?.[1] ?? '';
    const wav = parseWav(readFileSync(file));
    if (wav.kind === 'refused') throw new Error(wav.reason);
    const loudest = wavSamples(wav).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(loudest, 'the answer can be heard').toBeGreaterThan(3_000);
  }, 120_000);
});
