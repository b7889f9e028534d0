import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { systemRandom } from '../../../src/kernel/random.ts';
import { newWebhookSecret, signedHeaders } from '../../../src/webhooks/delivery/sign-delivery.ts';
import { freePort } from '../../support/server-process.ts';

const PAGE = new URL('../../../docs/api-behaviour/webhooks.md', import.meta.url);
const MOST_LINES = 17;

const programs = {
  js: (code: string) => [process.execPath, '--input-type=module', '-e', code],
  python: (code: string) => ['python3', '-c', code],
} as const;

let receiver: ChildProcess | undefined;
afterEach(() => receiver?.kill());

const codeOf = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '';

it.each(['js', 'python'] as const)(
  'the documented webhook receiver in %s accepts a signed event, and rejects any other',
  async (language) => {
    const code = codeOf(language);
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
    const secret = newWebhookSecret(systemRandom);
    const port = String(await freePort());
    const [program = '', ...args] = programs[language](code);
    const child = spawn(program, args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: port, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    receiver = child;
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    const failed = new Promise<never>((_, reject) => {
      child.on('error', () => reject(new Error(`${program} is needed to run this test`)));
    });
    const body = JSON.stringify({ event: 'key.created', label: 'Ümlaut' });
    const post = async (changed: { secret?: string; nowMs?: number; body?: string } = {}) => {
      const signed = { deliveryId: 'd'.repeat(32), body, nowMs: changed.nowMs ?? Date.now() };
      const headers = signedHeaders({ current: changed.secret ?? secret }, signed);
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        body: changed.body ?? body,
      });
      return answer.status;
    };
    const isUp = () => post().catch(() => undefined);
    await Promise.race([failed, expect.poll(isUp, { timeout: 15_000 }).toBe(200)]);
    expect(await post({ secret: newWebhookSecret(systemRandom) })).toBe(401);
    expect(await post({ body: `${body} ` })).toBe(401);
    expect(await post({ nowMs: Date.now() - 301_000 })).toBe(401);
    await expect.poll(() => output).toBe('key.created\n');
  },
);
