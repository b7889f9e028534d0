import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import { replayTape } from '../../src/protocols/replay-tape.ts';
import { readTape } from '../../src/voice/recording/tape.ts';
import { compiled } from '../support/compiled.ts';
import { bearer } from '../support/edge.ts';
import { LISTEN, listenWorld, STREAM } from '../support/listen-world.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { usageOf } from '../support/realtime-upstream.ts';
import { relayWorld } from '../support/relay-world.ts';
import { settled } from '../support/settled.ts';
import { memoryTapes } from '../support/tapes.ts';
import { bytesOf, silence } from '../support/voice-fakes.ts';
import { settledMoney, startWorld } from '../support/whole-world.ts';

const RATE = 24_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-tapes-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What the command says of a recording, and how it exits. */
const replay = (file: string) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const command = [compiled('src/app/commands/replay.ts'), file];
    execFile(process.execPath, command, { timeout: 60_000 }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

async function speak(client: RealtimeClient, pcm: Int16Array): Promise<void> {
  await client.stream(bytesOf(pcm), {
    bytesPerSecond: RATE * 2,
    send: (chunk) =>
      client.say({
        type: 'input_audio_buffer.append',
        audio: Buffer.from(chunk).toString('base64'),
      }),
  });
}

describe('a server that records', () => {
  it('a recorded realtime session replays to the same bytes with the real engines, and a cut recording is refused', async () => {
    await using world = await startWorld({ RECORD_SESSIONS_DIR: directory });
    const agent = await world.fund('recorded');
    const url = `${world.wsUrl}/v1/realtime?model=local/realtime`;
    const client = new RealtimeClient(url, [], { authorization: `Bearer ${agent.agentKey}` });
    await client.opened();
    const question = await synthesise('What is my balance?', RATE);
    for (const turn of [1, 2]) {
      await speak(client, question);
      await speak(client, silence(1_000, RATE));
      await client.until(() => client.of('response.done').length >= turn, 30_000);
    }
    client.say({ type: 'response.create' });
    await client.until(() => client.of('response.created').length === 3, 30_000);
    // Who breaks in is heard in time or not; either way is replayed.
    client.say({ type: 'response.cancel' });
    await client.until(() => client.of('response.done').length === 3, 30_000);
    client.ws.close();
    await client.closed;
    const money = await settledMoney(world.sql, agent.agentId);
    expect(money.charged).toBeGreaterThan(0n);

    const [name = ''] = readdirSync(directory);
    const file = join(directory, name);
    await expect.poll(() => isWhole(file)).toBe(true);
    const tape = readTape(readFileSync(file));
    const said = tape.sent.flatMap(([, path, [data]]) =>
      path === 'client.send' ? [JSON.parse(String(data))] : [],
    );
    expect(said).toEqual(client.events);
    expect(JSON.stringify(client.events)).toContain('balance');
    expect(readFileSync(file).includes(agent.agentKey)).toBe(false);
    expect(await replay(file)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${tape.sent.length} frames, all as recorded`),
    });

    writeFileSync(file, readFileSync(file).subarray(0, -40));
    expect(await replay(file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('cut short'),
    });
  });
});

describe('a server that records live transcriptions', () => {
  it('recorded transcriptions of both live routes replay to the same bytes with the real recogniser', async () => {
    await using world = await startWorld({ RECORD_SESSIONS_DIR: directory });
    const agent = await world.fund('recorded');
    const question = await synthesise('What is my balance?', RATE);
    const heard: string[] = [];
    const query = `model=local/pocketsphinx&encoding=linear16&sample_rate=${RATE}`;
    for (const [path, word] of [
      [`/v1/listen?${query}&interim_results=true&vad_events=true`, 'CloseStream'],
      [`/v1/audio/transcriptions/stream?${query}`, 'close_stream'],
    ]) {
      const client = new RealtimeClient(`${world.wsUrl}${path}`, [], bearer(agent.agentKey));
      await client.opened();
      for (const pcm of [question, silence(1_000, RATE)]) {
        await client.stream(bytesOf(pcm), {
          bytesPerSecond: RATE * 2,
          send: (chunk) => client.ws.send(chunk),
        });
      }
      client.say({ type: word });
      expect((await client.closed).code).toBe(1000);
      heard.push(client.texts.join('\n'));
    }
    expect(heard.join('\n')).toMatch(/balance.*balance/s);

    const files = () => readdirSync(directory).map((name) => join(directory, name));
    await expect.poll(() => files().filter(isWhole).length, { timeout: 30_000 }).toBe(2);
    const said: string[] = [];
    for (const file of files()) {
      const tape = readTape(readFileSync(file));
      said.push(
        tape.sent.flatMap(([, path, [data]]) => (path === 'client.send' ? [data] : [])).join('\n'),
      );
      expect(readFileSync(file).includes(agent.agentKey)).toBe(false);
      expect(await replay(file)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^transcription session stt_.* all as recorded/),
      });
    }
    expect(said.sort()).toEqual(heard.sort());
  });
});

const isWhole = (file: string): boolean => {
  try {
    return readTape(readFileSync(file)).sent.length > 0;
  } catch {
    return false;
  }
};

describe('a relayed session', () => {
  it('a recorded relayed session replays to the same frames on both sides', async () => {
    const tapes = memoryTapes();
    await using world = await relayWorld({ tapes });
    const client = await world.connect();
    const peer = await world.upstream.peer();
    client.say({
      type: 'session.update',
      session: { tools: [{ type: 'mcp', authorization: 'sk-hidden' }] },
    });
    client.ws.send('{"odd" : "漢字 🙂"}');
    client.ws.send(Buffer.from([0, 255, 34]));
    await peer.until('漢字');
    for (const id of ['r1', 'r2']) {
      peer.begin(id);
      for (let n = 0; n < 20; n++)
        peer.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(6_400) });
      peer.finish(id, usageOf({ audioOut: 30 }));
    }
    await client.until(() => client.of('response.done').length === 2);
    client.ws.close();
    await client.closed;
    await settled(world.ledger);

    await expect.poll(() => tapes.bytes().length).toBeGreaterThan(0);
    const tape = tapes.tape();
    const paths = new Set(tape.sent.map(([, path]) => path));
    expect(paths).toEqual(
      new Set(['client.send', 'upstream.send', 'client.close', 'upstream.close']),
    );
    expect(tapes.bytes().includes('sk-hidden')).toBe(false);
    expect(tape.sent.filter(([, path]) => path === 'client.send')).toHaveLength(
      client.events.length,
    );
    for (let n = 0; n < 2; n++) {
      expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
    }
  });
});

describe.each([
  ['/v1/listen', `${LISTEN}alone`],
  ['the plain route', `${STREAM}deepgram/alone`],
])('a relayed transcription on %s', (_, path) => {
  it('a recorded relayed transcription replays to the same frames on both sides and holds no credential', async () => {
    const tapes = memoryTapes();
    await using world = await listenWorld({ tapes });
    const client = await world.connect(path, { 'x-svc-provider-key': 'sk-hidden' });
    const peer = await world.upstream.peer();
    expect(peer.headers.authorization).toBe('Token sk-hidden');
    for (let n = 0; n < 12; n++) client.ws.send(bytesOf(silence(1_000, 16_000)));
    client.say({ type: 'KeepAlive', api_key: 'sk-hidden' });
    client.ws.send('no JSON');
    await client.until(() => client.texts.some((text) => text.includes('w24')));
    peer.say({ type: 'Odd', headers: { authorization: 'sk-hidden' } });
    client.say({ type: 'CloseStream' });
    await client.closed;
    await settled(world.ledger);

    const tape = tapes.tape();
    const paths = new Set(tape.sent.map(([, name]) => name));
    expect(paths).toEqual(
      new Set(['client.send', 'upstream.send', 'client.close', 'upstream.close']),
    );
    const said = tape.sent.filter(([, name]) => name === 'client.send');
    expect(said).toHaveLength(client.texts.length);
    expect(tapes.bytes().includes('sk-')).toBe(false);
    for (let n = 0; n < 2; n++) {
      expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
    }
  });
});
