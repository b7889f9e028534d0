import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.ts';
import { bearer } from '../support/edge.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { freePort, startServerProcess } from '../support/server-process.ts';
import { testWallet } from '../support/wallet.ts';
import { ask } from '../support/whole-world.ts';

let place: ProcessPlace;
let file: string;
beforeAll(async () => {
  place = await processPlace();
  file = join(place.directory, 'production.env');
});
afterAll(() => place[Symbol.asyncDispose]());

type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** A command as the operator runs it, without npm and the TypeScript loader. */
function run(command: string, given: readonly string[], env: Record<string, string> = {}) {
  const { PATH, HOME } = process.env;
  const args = [compiled(`src/app/commands/${command}.ts`), ...given];
  return new Promise<Ran>((resolve) => {
    execFile(process.execPath, args, { env: { PATH, HOME, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

const listeningLine = (output: string) =>
  JSON.parse(output.split('\n').find((line) => line.includes('"listening"')) ?? '{}');

describe('npm run secrets', () => {
  it('npm run secrets writes a file for its owner alone and never overwrites it', async () => {
    const made = await run('secrets', ['--file', file]);
    expect([made.code, made.err]).toEqual([0, '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(made.out).toContain('Off until it is set\n  deposits and payments in USDC: RPC_URL\n');
    expect(made.out).toContain(`node --env-file=${file} dist/src/main.js`);
    const before = readFileSync(file, 'utf8');
    const again = await run('secrets', ['--file', file]);
    expect([again.code, again.out]).toEqual([1, '']);
    expect(again.err).toContain(`${file} exists and is kept`);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('a server that starts from the secrets file creates agents, and `npm run agent` warns of a repeated name', async () => {
    const PORT = String(await freePort());
    const { DATABASE_URL = '' } = place.environment;
    await using server = await startServerProcess(
      { PORT, DATABASE_URL },
      { entry: [`--env-file=${file}`, compiled('src/main.ts')] },
    );
    expect(listeningLine(server.output()).off).toEqual([
      'deposits and payments in USDC: set RPC_URL',
      'phone: set TWILIO_ACCOUNT_SID + TWILIO_AUTH_TOKEN or the three TELNYX_… variables',
      'models of vendors: set OPENAI_API_KEY, ANTHROPIC_API_KEY or another key',
    ]);
    const agent = (...given: string[]) =>
      run('agent', ['--env', file, '--usd', '5', ...given], { PORT, DATABASE_URL });
    const first = await agent('--name', 'x');
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toContain('a new account\n');
    const key = /^key (\S+)$/m.exec(first.out)?.[1] ?? '';
    const balance = await ask(`${server.url}/v1/agents/balance`, { headers: bearer(key) });
    expect([balance.status, balance.body.spendableRaw]).toEqual([200, '5000000']);

    const second = await agent('--name', 'x', '--server', server.url);
    expect(second.out).toMatch(
      /^agent 1 of another account is called "x", too; --key svc_live_… adds an agent to an account\nwallet 0x\S+ signed in: a new account\n/,
    );
    const developerKey = /^developer key (\S+)$/m.exec(first.out)?.[1] ?? '';
    const third = await agent('--name', 'y', '--key', developerKey, '--url', server.url);
    expect(third.out).toMatch(/^agent 3 \("y"\) has key/);
    const { body } = await ask(`${server.url}/v1/developer/agents`, {
      headers: bearer(developerKey),
    });
    const { agents } = body as { agents: { name: string }[] };
    expect(agents.map(({ name }) => name).sort()).toEqual(['x', 'y']);
    const taken = await agent('--name', 'y', '--key', developerKey);
    expect([taken.code, taken.err]).toEqual([
      1,
      'POST /v1/developer/agents answered 409: An agent named "y" exists already.\n',
    ]);
    expect(await server.stop()).toBe(0);
  });

  it('a server without wallet variables says so at its start, and its 503 names them', async () => {
    const { JWT_SECRET, API_KEY_HMAC_SECRET, ADMIN_API_KEY } = parseEnv(readFileSync(file, 'utf8'));
    const secrets = { JWT_SECRET, API_KEY_HMAC_SECRET, ADMIN_API_KEY } as Record<string, string>;
    await using server = await startServerProcess({
      NODE_ENV: 'production',
      DATABASE_URL: place.environment.DATABASE_URL ?? '',
      ...secrets,
    });
    const wallets =
      'MANAGED_WALLET_APP_ID, MANAGED_WALLET_APP_SECRET, MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY';
    expect(listeningLine(server.output()).off[0]).toBe(
      `creating agents: set ${wallets}, FACILITATOR_PRIVATE_KEY`,
    );
    const headers = await testWallet('walletless').headers(Date.now());
    const refused = await ask(`${server.url}/v1/developer/agents`, {
      headers,
      body: { name: 'x' },
    });
    expect([refused.status, refused.body.error]).toEqual([503, 'agent_features_unavailable']);
    for (const name of wallets.split(', ')) expect(refused.body.message).toContain(name);
    expect(await server.stop()).toBe(0);
  });
});

describe('a start on a terminal', () => {
  it('a start on a terminal prints readable lines and ends with the next step', async () => {
    const terminal = 'process.stdout.isTTY = true; process.stdout.hasColors = () => false;';
    const PORT = String(await freePort());
    const { PATH, HOME } = process.env;
    const child = execFile(
      process.execPath,
      ['--import', `data:text/javascript,${terminal}`, compiled('src/main.ts')],
      { env: { PATH, HOME, PORT, ...place.environment } },
    );
    let out = '';
    child.stdout?.on('data', (data) => {
      out += data;
    });
    await expect.poll(() => out, { timeout: 40_000 }).toContain('  next ');
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(out).toContain(`  listening  http://127.0.0.1:${PORT} (development)\n`);
    expect(out).toContain('  off        deposits and payments in USDC: set RPC_URL\n');
    expect(out).toContain(`npm run agent -- --name x --usd 5 --server http://127.0.0.1:${PORT}\n`);
    expect(out).toMatch(/^\d\d:\d\d:\d\d {2}stopped\n/m);
    expect(out).not.toContain('{"level"');
  });
});
