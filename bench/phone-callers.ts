import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { systemRandom } from '../src/kernel/random.ts';
import { newCallId } from '../src/phone/calls/call.ts';
import { insertCall } from '../src/phone/calls/opening/new-call-store.ts';
import { RATE_CARD } from '../src/phone/rate-card.ts';
import type { Sql } from '../src/platform/postgres/sql.ts';
import { twilioStamp } from './frame-stamp.ts';
import { startHost } from './live-clients.ts';
import { MEDIA_PATH, type PhoneHostOrder } from './phone-order.ts';

const BYTES_PER_MS = 8;
const NO_LIMIT = { agent: 1_000_000, account: 1_000_000 };

/** Sound of the agent, as its carrier gets it. */
export type HeardSound = { readonly atMs: number; readonly ms: number; readonly payload: string };

/** One line at its carrier, which plays in real time what it gets and says when a mark is reached. */
export type Caller = {
  readonly callId: string;
  /** Sends the next 20 ms, in base64. Returns when. */
  say(payload: string): number;
  readonly heard: { ms: number; pieces: number };
  /** Called for each piece of the agent's sound. */
  onSound: ((sound: HeardSound) => void) | undefined;
  /** Called when the carrier is told to drop what it has not played. */
  onClear: (() => void) | undefined;
  isOpen(): boolean;
  hangUp(): void;
};

/** A call that rang, and whose media stream may come. */
async function writeCall(
  sql: Sql,
  agentId: number,
  beginMessage: string | null = null,
): Promise<string> {
  const callId = newCallId(systemRandom);
  const voice = { voiceMode: 'hosted', systemPrompt: null, beginMessage } as const;
  await insertCall(
    sql,
    {
      callId,
      agentId,
      accountId: 'acct_bench',
      numberId: agentId,
      carrier: 'twilio',
      carrierCallId: callId,
      direction: 'outbound',
      keyId: null,
      taskId: callId,
      taskValueBps: null,
      from: '+14155550100',
      to: '+14155550199',
      actionId: null,
      customerId: null,
      maxSpendRaw: 2_000_000n,
      rates: RATE_CARD,
      dueInMs: 3_600_000,
      options: {
        voice: { ...voice, voice: null, model: null, webhookUrl: null },
        detectsMachine: false,
        isRecorded: false,
        wantsReport: false,
      },
    },
    NO_LIMIT,
  );
  await sql`update calls set streams_asked = 1 where id = ${callId}`;
  return callId;
}

type CallersOrder = PhoneHostOrder & { readonly isPinned?: boolean };

/** Starts a server of calls. Each line to it is opened by itself, with the greeting of its agent. */
export async function startCalls(sql: Sql, { isPinned = true, ...order }: CallersOrder) {
  const host = await startHost('phone-host', order, { isPinned });
  const sockets: WebSocket[] = [];
  return {
    host,
    async open(agentId: number, beginMessage?: string): Promise<Caller> {
      const isLive = order.kind === 'live';
      const callId = isLive ? await writeCall(sql, agentId, beginMessage) : `CA${agentId}`;
      const socket = new WebSocket(`ws://127.0.0.1:${host.port}${MEDIA_PATH}`, {
        perMessageDeflate: false,
        skipUTF8Validation: true,
        // A mask of zeros is not applied: the core is shared with all other callers.
        generateMask: (mask) => void mask.fill(0),
      });
      socket.on('error', () => {});
      await once(socket, 'open');
      sockets.push(socket);
      return openLine(socket, callId, !isLive);
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      await host.end();
    },
  };
}

/** Starts a server of calls and so many lines to it. */
export async function openCallers(sql: Sql, order: CallersOrder) {
  const { close, host, open } = await startCalls(sql, order);
  const callers: Caller[] = [];
  for (let agentId = 1; agentId <= order.calls; agentId++) callers.push(await open(agentId));
  // The calls are open once their rows say so.
  await delay(500);
  return {
    host,
    callers,
    lost: () => callers.filter((caller) => !caller.isOpen()).length,
    close,
  };
}

function openLine(socket: WebSocket, callId: string, isBare: boolean): Caller {
  const streamSid = `MZ${callId.slice(2)}`;
  let spokenFrames = 0;
  let playedUntilMs = 0;
  const caller: Caller = {
    callId,
    heard: { ms: 0, pieces: 0 },
    onSound: undefined,
    onClear: undefined,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    hangUp: () => socket.terminate(),
    say(payload) {
      const n = spokenFrames++;
      const media = `{"track":"inbound","chunk":"${n + 1}","timestamp":"${n * 20}","payload":"${payload}"}`;
      const nowMs = performance.now();
      socket.send(twilioStamp.stamped(`","media":${media},"streamSid":"${streamSid}"}`), {
        binary: false,
      });
      return nowMs;
    },
  };
  if (isBare) return caller;
  const start = {
    streamSid,
    accountSid: 'AC0',
    callSid: callId,
    tracks: ['inbound'],
    customParameters: { call: callId },
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 },
  };
  socket.send('{"event":"connected","protocol":"Call","version":"1.0.0"}');
  socket.send(JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid }));
  socket.on('message', (data: Buffer) => {
    const nowMs = performance.now();
    if (data.includes('"event":"media"')) {
      const text = data.toString('latin1');
      const from = text.indexOf('"payload":"') + 11;
      const payload = text.slice(from, text.indexOf('"', from));
      const ms = (payload.length * 0.75) / BYTES_PER_MS;
      playedUntilMs = Math.max(playedUntilMs, nowMs) + ms;
      caller.heard.ms += ms;
      caller.heard.pieces++;
      caller.onSound?.({ atMs: nowMs, ms, payload });
      return;
    }
    const message = JSON.parse(data.toString('utf8')) as { event: string; mark?: { name: string } };
    if (message.event === 'clear') {
      playedUntilMs = nowMs;
      caller.onClear?.();
    }
    if (message.mark === undefined) return;
    const echo = JSON.stringify({ event: 'mark', streamSid, mark: message.mark });
    setTimeout(() => socket.send(echo), Math.max(0, playedUntilMs - nowMs));
  });
  return caller;
}
