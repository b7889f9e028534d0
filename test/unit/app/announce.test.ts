import { describe, expect, it } from 'vitest';
import { announce, describeStart } from '../../../src/app/announce.ts';
import type { Settings } from '../../../src/app/local-secrets.ts';
import { readConfig } from '../../../src/config/config.ts';
import type { Log } from '../../../src/kernel/log.ts';

const WHOLE = {
  RPC_URL: 'https://rpc.example',
  MANAGED_WALLET_APP_ID: 'local',
  MANAGED_WALLET_APP_SECRET: 's'.repeat(32),
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: 'k'.repeat(32),
  FACILITATOR_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
  PROVIDER_KEY_SECRET: 'p'.repeat(32),
};

const started = (url: string, hasVendorModels: boolean, environment: Record<string, string>) =>
  describeStart(
    { url, hasVendorModels },
    { settings: readConfig(environment) as Settings, local: ['JWT_SECRET'] },
  );

/** What a server that has started so writes on a terminal. */
function tableOf(...start: Parameters<typeof started>): string {
  let written = '';
  const log = { flush: (done: () => void) => done() } as Log;
  const terminal = {
    write(text: string) {
      written += text;
    },
  };
  announce(log, started(...start), terminal as unknown as NodeJS.WriteStream);
  return written;
}

describe('the table of a start', () => {
  it('the start-up table ends with the next step, and names no server at the usual port', () => {
    const table = tableOf('http://127.0.0.1:3001', true, WHOLE);
    expect(table).toBe(`
  listening  http://127.0.0.1:3001 (development)
  database   embedded PostgreSQL in ./.data/db
  chain      RPC
  wallets    local
  secrets    1 made here and kept

  next       npm run agent -- --name x --usd 5
             It makes an agent with 5 USDC and prints its key. docs/tasks has more.

`);
  });

  it('the start-up table has a line for each feature that is off, and names the server at an unusual port', () => {
    const { RPC_URL: _, ...without } = WHOLE;
    const table = tableOf('http://127.0.0.1:4000', false, without);
    expect(table).toContain(`
  off        deposits and payments in USDC: set RPC_URL
             models of vendors: set OPENAI_API_KEY, ANTHROPIC_API_KEY or another key
`);
    expect(table).toContain('--usd 5 --server http://127.0.0.1:4000\n');
  });
});
