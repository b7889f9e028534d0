import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeWav } from '../../../media/wav.ts';
import { readConfig } from '../../config/config.ts';
import { formatUsdc } from '../../kernel/amount.ts';
import { nowSeconds, sleep, systemClock } from '../../kernel/clock.ts';
import { silentLog } from '../../kernel/log.ts';
import { systemRandom } from '../../kernel/random.ts';
import { Teardown } from '../../kernel/teardown.ts';
import { completeSettings } from '../local-secrets.ts';
import { type Server, startServer } from '../server.ts';
import { type Api, createApi } from './demo/api.ts';
import { aside, heading, line } from './demo/banner.ts';
import { buyAnswer, type PassedStep } from './demo/buy-answer.ts';
import { Caller, type Turn } from './demo/converse.ts';
import { balanceOf, type FundedAgent, fundAgent } from './demo/fund-agent.ts';
import { type Market, type MarketFound, openMarket } from './demo/market.ts';
import type { MeasuredCallee } from './demo/measured-callee.ts';
import { callPerson, openCallee } from './demo/phone-call.ts';
import { printLedger, waitForSettlement } from './demo/print-ledger.ts';
import { rememberFact } from './demo/remember.ts';
import { readRecordings, synthesise } from './demo/sound.ts';
import { transcribe } from './demo/transcribe.ts';

/**
 * `npm run demo`: shows in about a minute a voice agent that has a spoken conversation, calls a person, remembers a fact, buys
 * an answer from a vendor, and is billed to the raw unit.
 */

const SENTENCES = ['librivox-0880.wav', 'librivox-0890.wav'];
const QUESTION = 'What is my balance?';
/** The answer to this question is long enough to be interrupted. */
const LONG_QUESTION = 'What is this server?';
const INTERRUPTION = 'Who are you?';
const CUT_IN_AFTER_MS = 2_500;
const REALTIME_HZ = 24_000;
const FUNDS_RAW = 5_000_000n;

const directory = mkdtempSync(join(tmpdir(), 'voice-demo-'));
const keep = process.argv.includes('--keep');
const passed: PassedStep[] = [];
let step = '';

function begin(name: string): void {
  step = name;
  heading(name);
}

/**
 * Returns the variables with which the server pays on a local chain. A local chain mines a block only when it gets a
 * transaction, so confirmations and clock skew are relaxed.
 */
const onMarket = ({ rpcUrl }: Market) => ({
  RPC_URL: rpcUrl,
  SSRF_ALLOW_LOCALHOST: '1',
  RECONCILE_SECONDS: '0.2',
  CHAIN_CONFIRMATIONS: '0',
  CHAIN_CLOCK_SKEW_SECONDS: '100000',
});

async function startThrowaway(
  market: Market | undefined,
  callee: MeasuredCallee,
): Promise<{ server: Server; adminApiKey: string }> {
  const config = readConfig({
    NODE_ENV: 'development',
    DATABASE_URL: join(directory, 'db'),
    LOG_LEVEL: 'silent',
    ...(market && onMarket(market)),
  });
  const { settings } = completeSettings(config, systemRandom);
  const server = await startServer({
    settings,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    port: 0,
    secret: () => undefined,
    calleeOf: async () => callee,
    onPaymentStep: async (step) => {
      passed.push({ step, atMs: systemClock.monotonicMs() });
    },
  });
  return { server, adminApiKey: settings.adminApiKey };
}

type Stage = {
  readonly server: Server;
  readonly api: Api;
  readonly agent: FundedAgent;
  readonly callee: MeasuredCallee;
  readonly found: MarketFound;
};

async function setUp(ends: Teardown): Promise<Stage> {
  begin('1. A server of its own');
  const found = await openMarket();
  const market = found.kind === 'open' ? ends.use('market', found.market) : undefined;
  const callee = await openCallee(systemClock);
  const { server, adminApiKey } = await startThrowaway(market, callee);
  ends.use('server', server);
  line(`listens on ${server.url}, with an embedded PostgreSQL in ${directory}`);
  if (market !== undefined) line(`reads a chain of its own at ${market.rpcUrl}`);

  begin('2. An agent with a key and a balance');
  const api = createApi(server.url);
  const agent = await fundAgent(api, {
    name: 'demo',
    amountRaw: FUNDS_RAW,
    adminApiKey,
    said: line,
    nowSeconds: nowSeconds(systemClock),
  });
  line(`balance ${formatUsdc(agent.spendableRaw)} USDC`);
  return { server, api, agent, callee, found };
}

const wsUrl = ({ server }: Stage) => server.url.replace(/^http/, 'ws');

async function listen(stage: Stage): Promise<void> {
  begin('3. Live transcription of recorded human speech (LibriVox, public domain)');
  const target = { wsUrl: wsUrl(stage), agentKey: stage.agent.agentKey };
  await transcribe(systemClock, target, readRecordings(SENTENCES), line);
  aside('local/pocketsphinx is basic: about three words in ten of open speech are misheard.');
}

async function talk(stage: Stage): Promise<void> {
  begin('4. A conversation, interrupted');
  const say = (text: string) => synthesise(text, REALTIME_HZ);
  const [question, long, interruption] = await Promise.all([
    ...([say(QUESTION), say(LONG_QUESTION), say(INTERRUPTION)] as const),
  ]);
  const target = { wsUrl: wsUrl(stage), agentKey: stage.agent.agentKey };
  const caller = await Caller.call(systemClock, target);
  line(`asked: "${QUESTION}"   [spoken by local/flite, a synthetic voice]`);
  const answer = await caller.ask(question);
  showTurn(answer);
  keepSound(answer);

  line(`asked: "${LONG_QUESTION}"`);
  const cut = await caller.cutIn(long, CUT_IN_AFTER_MS, interruption);
  showTurn(cut.turn);
  const soundMs = Math.round((cut.turn.pcm.length / cut.turn.sampleRateHz) * 1_000);
  line(`cut off after ${cut.playedMs} of ${soundMs} ms, by "${INTERRUPTION}"`);
  line(`kept as said: "${cut.heardWords}"`);
  showTurn(cut.next);
  await caller.hangUp();
}

function showTurn({ heard, answer, stages, costRaw }: Turn): void {
  line(`heard: "${heard}"`);
  line(`answered: "${answer}"`);
  for (const [name, ms] of Object.entries(stages)) {
    line(`${String(ms).padStart(6)} ms after the speaker stopped   ${name}`);
  }
  line(`cost: ${formatUsdc(costRaw)} USDC`);
}

function keepSound({ pcm, sampleRateHz }: Turn): void {
  if (pcm.length === 0) throw new Error('the answer had no sound');
  const file = join(tmpdir(), `voice-demo-answer-${process.pid}.wav`);
  writeFileSync(file, encodeWav(pcm, sampleRateHz));
  line(`the answer's sound: ${file} (${(pcm.length / sampleRateHz).toFixed(1)} s)`);
}

async function phone({ agent, api, callee, server }: Stage): Promise<void> {
  begin('5. A phone call, interrupted');
  const { sql } = server.database;
  await callPerson({ clock: systemClock, api, sql, agent, callee, said: line });
}

async function remember({ agent: { agentKey }, api }: Stage): Promise<void> {
  begin('6. A fact, remembered from one conversation to the next; its store costs nothing');
  await rememberFact({ clock: systemClock, api, agentKey, said: line });
}

async function account(stage: Stage): Promise<void> {
  begin('7. What it cost, to the raw unit (0.000001 USDC)');
  await waitForSettlement(systemClock, stage.server.database.sql, stage.agent.agentId);
  const spentRaw = await printLedger(stage.server.database.sql, stage.agent.agentId, line);
  const afterRaw = await balanceOf(stage.api, stage.agent.agentKey);
  line(`balance before ${formatUsdc(stage.agent.spendableRaw)} USDC`);
  line(`balance after  ${formatUsdc(afterRaw)} USDC`);
  if (stage.agent.spendableRaw - afterRaw !== spentRaw) {
    throw new Error(
      `the ledger says ${spentRaw} raw were spent, the balance fell by another amount`,
    );
  }
  line(`spent          ${formatUsdc(spentRaw)} USDC, which is what the ledger says`);
}

async function buy({ api, agent: { agentKey }, found }: Stage): Promise<void> {
  begin('8. A paid answer, from an x402 vendor on a local chain with the real USDC contract');
  if (found.kind === 'absent') {
    aside(
      `Left out: ${found.missing} is missing. Chain and vendor come with a plain "npm ci" only.`,
    );
    return;
  }
  const { market } = found;
  await buyAnswer({ clock: systemClock, api, agentKey, market, passed, said: line });
}

/** Keeps the server running until Ctrl-C, for `--keep`. */
async function linger({ server, agent }: Stage): Promise<void> {
  heading('The server stays up. Talk to it, and end it with Ctrl-C:');
  line(`curl ${server.url}/v1/agents/balance -H 'Authorization: Bearer ${agent.agentKey}'`);
  line(`ws:  ${server.url.replace(/^http/, 'ws')}/v1/realtime?model=local/realtime`);
  const ended = new AbortController();
  // The handler stays registered: npm forwards the Ctrl-C that the terminal has sent already.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort());
  while (!ended.signal.aborted) await sleep(systemClock, 60_000, ended.signal);
}

const ends = new Teardown();
const startedMs = systemClock.monotonicMs();
try {
  const stage = await setUp(ends);
  await listen(stage);
  await talk(stage);
  await phone(stage);
  await remember(stage);
  await account(stage);
  await buy(stage);
  const seconds = ((systemClock.monotonicMs() - startedMs) / 1_000).toFixed(1);
  heading(`Done in ${seconds} s.`);
  if (keep) await linger(stage);
} catch (error) {
  console.error(
    `\nThe demo failed at "${step}":\n  ${error instanceof Error ? error.message : error}`,
  );
  process.exitCode = 1;
} finally {
  await ends[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
}
