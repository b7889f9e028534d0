import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import {
  Agent,
  type Dispatcher,
  getGlobalDispatcher,
  setGlobalDispatcher,
  fetch as undiciFetch,
} from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../support/self-signed.ts';
import { settledMoney, startWorld } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-tls-'));
const { cert, key } = selfSigned(['127.0.0.1']);

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

const TLS = { TLS_CERT_FILE: file('cert.pem', cert), TLS_KEY_FILE: file('key.pem', key) };

let before: Dispatcher;
beforeAll(() => {
  before = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ connect: { ca: cert } }));
});
afterAll(async () => {
  await getGlobalDispatcher().close();
  setGlobalDispatcher(before);
  rmSync(directory, { recursive: true });
});

describe('a server with a certificate', () => {
  it('a server with a certificate serves the official clients over https and wss', async () => {
    await using world = await startWorld(TLS);
    expect(world.url).toMatch(/^https:/);
    const agent = await world.fund('caller', 1_000_000n);
    const client = new OpenAI({
      apiKey: agent.agentKey,
      baseURL: `${world.url}/v1`,
      fetch: undiciFetch as unknown as typeof fetch,
    });
    const completion = await client.chat.completions.create({
      model: 'local/guide',
      messages: [{ role: 'user', content: 'What is my balance?' }],
    });
    expect(completion.choices[0]?.message.content).toContain('USDC');

    const realtime = new OpenAIRealtimeWS(
      { model: 'local/realtime', options: { ca: cert } },
      client,
    );
    const said = new Promise<string>((resolve, reject) => {
      realtime.on('response.output_audio_transcript.done', ({ transcript }) => resolve(transcript));
      realtime.on('error', reject);
    });
    const done = new Promise<void>((resolve) => realtime.on('response.done', () => resolve()));
    realtime.on('session.created', () => {
      realtime.send({
        type: 'conversation.item.create',
        item: {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'What is my balance?' }],
        },
      });
      realtime.send({ type: 'response.create' });
    });
    expect(await said).toContain('balance');
    await done;
    realtime.close();
    const money = await settledMoney(world.sql, agent.agentId);
    expect(money.spendable).toBe(1_000_000n - money.charged);
    expect(money.charged).toBeGreaterThan(0n);
  });

  it('a server with a certificate does not answer plain HTTP', async () => {
    await using world = await startWorld(TLS);
    const clear = world.url.replace('https:', 'http:');
    await expect(undiciFetch(`${clear}/v1/health`)).rejects.toThrow();
  });

  it('a server with an invalid certificate or key file does not start, and names the variable and the fault', async () => {
    const other = file('other.pem', selfSigned(['127.0.0.1']).key);
    await expect(startWorld({ ...TLS, TLS_KEY_FILE: other })).rejects.toThrow(
      /TLS_KEY_FILE .*is not the key of the certificate/,
    );
    await expect(startWorld({ ...TLS, TLS_CERT_FILE: '/nowhere.pem' })).rejects.toThrow(
      /TLS_CERT_FILE \/nowhere\.pem: ENOENT/,
    );
    await expect(startWorld({ ...TLS, TLS_CERT_FILE: TLS.TLS_KEY_FILE })).rejects.toThrow(
      /TLS_CERT_FILE/,
    );
  });
});
