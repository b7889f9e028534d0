import { encodeMulaw } from '../../../../media/mulaw.ts';
import { formatUsdc } from '../../../kernel/amount.ts';
import { type Clock, sleep } from '../../../kernel/clock.ts';
import { readCharges } from '../../../ledger/store/statement-store.ts';
import { findTurns } from '../../../phone/calls/turn-store.ts';
import { ScriptedCallee } from '../../../phone/carriers/loopback/scripted-callee.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';
import { type Api, bearer } from './api.ts';
import type { FundedAgent } from './fund-agent.ts';
import { MeasuredCallee } from './measured-callee.ts';
import { synthesise } from './sound.ts';

const AREA_CODE = '212';
const CALLED = '+14155550199';
const GREETING = 'Hello.';
const QUESTION = 'What is my balance?';
/** Question that interrupts the answer to `QUESTION`. Its own answer is short. */
const INTERRUPTION = 'What is two plus two?';
const CUT_IN_AFTER_MS = 1_500;
const LINE_HZ = 8_000;
const RESERVE_RAW = 200_000n;
/** Longest time to the beginning of an answer with engines on this machine, the silence that ends the speech included. */
const PROMISED_MS = 800;
const OVER_WITHIN_MS = 40_000;
/** Milliseconds between polls, which keep below a developer key's limit of 100 requests a minute. */
const POLL_MS = 1_000;
const MOST = 100;

type Receipt = {
  readonly reason: string;
  readonly durationSeconds: number;
  readonly transportRaw: string;
  readonly sttRaw: string;
  readonly ttsRaw: string;
};

export type PhoneDemo = {
  readonly clock: Clock;
  readonly api: Api;
  readonly sql: Sql;
  readonly agent: FundedAgent;
  readonly callee: MeasuredCallee;
  readonly said: (line: string) => void;
};

/** Creates the callee of the demo call, who asks a question, interrupts the answer, and hangs up after the next answer. */
export async function openCallee(clock: Clock): Promise<MeasuredCallee> {
  const lineOf = async (text: string) => {
    const pcm = await synthesise(text, LINE_HZ);
    const sound = new Uint8Array(pcm.length);
    encodeMulaw(pcm, sound);
    return sound;
  };
  const [question, interruption] = await Promise.all([lineOf(QUESTION), lineOf(INTERRUPTION)]);
  const cutIn = { sound: interruption, cutsInAfterMs: CUT_IN_AFTER_MS };
  return new MeasuredCallee(clock, new ScriptedCallee([question, cutIn]));
}

/** Rents a number, calls a person over the loopback carrier, and prints the transcript, the latencies and the cost. */
export async function callPerson(demo: PhoneDemo): Promise<void> {
  const { agent, api, said } = demo;
  const headers = bearer(agent.agentKey);
  const { number } = await api.call<{ number: { phoneNumber: string } }>('POST', '/v1/numbers', {
    headers,
    body: { areaCode: AREA_CODE },
  });
  await api.call('POST', `/v1/developer/agents/${agent.agentId}/voice`, {
    headers: bearer(agent.developerKey),
    body: { beginMessage: GREETING },
  });
  said(`the agent rents ${number.phoneNumber} and calls ${CALLED}   [both kept for fiction]`);
  const { callId } = await api.call<{ callId: string }>('POST', '/v1/calls', {
    headers,
    body: { toNumber: CALLED, maxSpendRaw: RESERVE_RAW.toString(), report: true },
  });
  const receipt = await receiptOf(demo, callId);
  await showTalk(demo, callId);
  await showReceipt(demo, `phone://${number.phoneNumber}/call/${callId}`, receipt);
}

async function receiptOf({ agent, api, clock }: PhoneDemo, callId: string): Promise<Receipt> {
  const deadlineMs = clock.monotonicMs() + OVER_WITHIN_MS;
  let after = '0';
  while (clock.monotonicMs() < deadlineMs) {
    const feed = await api.call<{ events: (Receipt & { event: string })[]; after: string }>(
      'GET',
      `/v1/developer/events?after=${after}`,
      { headers: bearer(agent.developerKey) },
    );
    const ended = feed.events.find(({ event }) => event === 'call.ended');
    if (ended !== undefined) return ended;
    after = feed.after;
    await sleep(clock, POLL_MS);
  }
  throw new Error(`${callId} did not end`);
}

async function showTalk({ callee, said, sql }: PhoneDemo, callId: string): Promise<void> {
  for (const { role, content } of await findTurns(sql, callId, MOST)) {
    said(`${role === 'user' ? 'heard: ' : 'agent: '} "${content}"`);
  }
  const [asked, cutIn] = callee.lines;
  if (asked === undefined || cutIn?.silentAfterMs === undefined) {
    throw new Error('the callee spoke over nothing');
  }
  const ms = (value: number) => `${String(value).padStart(6)} ms`;
  said(`the callee cut in when ${cutIn.heardMs} ms of the answer were heard`);
  said(`${ms(cutIn.silentAfterMs)} after the callee began    the agent is silent`);
  const firstMs = [asked, cutIn].map(({ firstLoudMs, firstSoundMs }) => {
    if (firstSoundMs === undefined) throw new Error('the callee was not answered');
    const loud = `${firstLoudMs ?? 'never'} ms until it is loud`;
    said(`${ms(firstSoundMs)} after the callee stopped  first sound of the answer (${loud})`);
    return firstSoundMs;
  });
  const over = Math.max(...firstMs) - PROMISED_MS;
  const verdict = over <= 0 ? 'met' : `missed by ${over} ms`;
  said(`the goal of local engines, ${PROMISED_MS} ms to the first sound, was ${verdict}`);
}

async function showReceipt(
  { agent, said, sql }: PhoneDemo,
  target: string,
  receipt: Receipt,
): Promise<void> {
  const charges = await readCharges(sql, agent.agentId, MOST);
  const rows = [
    { leg: 'transport', url: target, raw: BigInt(receipt.transportRaw) },
    { leg: 'stt', url: `${target}/stt`, raw: BigInt(receipt.sttRaw) },
    { leg: 'tts', url: `${target}/tts`, raw: BigInt(receipt.ttsRaw) },
  ];
  said(`receipt, after ${receipt.durationSeconds} s (${receipt.reason}):`);
  for (const { leg, raw } of rows) said(`  ${leg.padEnd(9)}  ${formatUsdc(raw)} USDC`);
  const totalRaw = rows.reduce((sum, { raw }) => sum + raw, 0n);
  const ledgerRaw = charges
    .filter(({ targetUrl }) => rows.some(({ url }) => url === targetUrl))
    .reduce((sum, { costRaw }) => sum + costRaw, 0n);
  if (ledgerRaw !== totalRaw) {
    throw new Error(`the receipt says ${totalRaw} raw, the ledger ${ledgerRaw}`);
  }
  said(`  total      ${formatUsdc(totalRaw)} USDC, which is what the ledger took`);
}
