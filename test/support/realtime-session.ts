import { assert } from '../../src/kernel/assert.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { Model, Source } from '../../src/models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { readSession } from '../../src/protocols/openai-realtime/read-session-config.ts';
import { openRealtime } from '../../src/protocols/openai-realtime/realtime-session.ts';
import type { SocketSession } from '../../src/protocols/socket-session.ts';
import { openTurn } from '../../src/voice/billing/hold-turn.ts';
import { openSessionHold } from '../../src/voice/billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../../src/voice/billing/session-holds.ts';
import { type TurnCap, turnCap } from '../../src/voice/billing/turn-meter.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { createLocalPipeline } from '../../src/voice/session/local-pipeline.ts';
import type { SessionConfig } from '../../src/voice/session/session-config.ts';
import type { VoiceSessionInput } from '../../src/voice/session/voice-session-input.ts';
import { ManualClock } from './manual-clock.ts';
import { bytesOf, type FakeEngines } from './voice-fakes.ts';
import { AGENT, createVoiceWorld, FakeSocket, type SentEvent, settleAll } from './voice-world.ts';

export const RATE = 24_000;
const PLENTY = 10_000_000n;

type World = {
  readonly creditRaw?: bigint;
  /** As its client would write it. */
  readonly session?: unknown;
  /** In the place of what `session` reads as. */
  readonly config?: SessionConfig;
  readonly change?: Partial<VoiceDeps>;
  /** In the place of new ones. */
  readonly engines?: FakeEngines | undefined;
  readonly capOf?: (model: Model, source: Source) => TurnCap;
};

/** What a voice session of the local engines is opened with, over fakes and a clock that stands still. */
export const openInput = (world: World) => openInputOn(new ManualClock(), world);

/** The same on a clock that is given. */
export async function openInputOn<C extends Clock>(
  clock: C,
  { creditRaw = PLENTY, session, change = {}, engines, capOf = turnCap, ...given }: World,
) {
  const world = await createVoiceWorld({ clock, creditRaw, change, engines });
  const { deps } = world;
  const model = deps.catalogue.find('local/realtime');
  const source = model?.sources[0];
  assert(model !== undefined && source !== undefined, 'the catalogue has the local voice');
  const cap = capOf(model, source);
  const callerFacts = () => deps.callerFacts(AGENT);
  const owner = {
    spender: { agentId: AGENT, keyId: 70 },
    sessionId: 'sess_test',
    kind: 'realtime',
    model: model.id,
    source,
  } as const;
  const read = readSession(session);
  assert('config' in read, 'the session can be');
  const { config = read.config } = given;
  const sessionHolds = new SessionHolds((_, heldRaw, isQuiet) =>
    openSessionHold(deps, owner, heldRaw, isQuiet),
  );
  const pipeline = createLocalPipeline({ ...deps, cap, source, callerFacts, sessionHolds });
  const reserves = pipeline.reserves(config);
  const reserveRaw = reserves[MAIN_HOLD] ?? 0n;
  const reservesOf = (tokens: number) => pipeline.reserves(config, tokens);
  const outputTokens = await openTurn(sessionHolds, reservesOf, cap.outputTokens);
  const input: VoiceSessionInput = { owner, sessionHolds, cap, outputTokens, pipeline, config };
  /** What a turn with the shortest answer that is of use comes to. */
  const leastRaw = pipeline.reserves(config, MODEL_LIMITS.tokens.leastOutput)[MAIN_HOLD] ?? 0n;
  return { ...world, clock, input, leastRaw, reserveRaw };
}

/** A realtime session over fakes and a clock that stands still, with a client to speak for. */
export async function openSession({
  log = silentLog,
  open = (deps: VoiceDeps, input: VoiceSessionInput) => openRealtime(deps, input),
  ...rest
}: World & {
  readonly log?: VoiceDeps['log'];
  readonly open?: (deps: VoiceDeps, input: VoiceSessionInput) => SocketSession;
} = {}) {
  const opened = await openInput({ ...rest, change: { log, ...rest.change } });
  const { clock } = opened;
  const session = open(opened.deps, opened.input);
  const socket = new FakeSocket();
  session.attach(socket);
  const send = (event: Readonly<Record<string, unknown>>) =>
    session.frame(Buffer.from(JSON.stringify(event)));

  /** Real-time pace, 100 ms at a time. */
  async function speak(pcm: Int16Array) {
    for (let at = 0; at < pcm.length; at += RATE / 10) {
      const audio = Buffer.from(bytesOf(pcm.slice(at, at + RATE / 10))).toString('base64');
      send({ type: 'input_audio_buffer.append', audio });
      clock.advance(100);
      await settleAll();
    }
  }
  async function say(text: string) {
    send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    send({ type: 'response.create' });
    await settleAll();
  }
  return { ...opened, session, socket, send, speak, say };
}

/** The response that an event carries. */
export const response = (event: SentEvent | undefined) =>
  event?.response as {
    status: string;
    status_details: unknown;
    usage: Record<string, number>;
    output: { content?: { transcript?: string; text?: string }[] }[];
    metadata: Record<string, string>;
  };
