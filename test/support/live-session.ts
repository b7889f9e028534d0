import { assert } from '../../src/kernel/assert.ts';
import { openLive } from '../../src/protocols/openai-live/live-session.ts';
import { type LiveStart, readStart } from '../../src/protocols/openai-live/read-start.ts';
import type { SocketSession } from '../../src/protocols/socket-session.ts';
import { liveTurnCap } from '../../src/voice/billing/turn-meter.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { createScriptedLlm } from '../../src/voice/session/scripted-llm.ts';
import type { VoiceSessionInput } from '../../src/voice/session/voice-session-input.ts';
import { openInput } from './realtime-session.ts';
import { bytesOf } from './voice-fakes.ts';
import { FakeSocket, settleAll } from './voice-world.ts';

/** The rate of a live session whose client names no format. */
export const LIVE_RATE = 24_000;

/** A live session of the local engines over fakes and a clock that stands still, with a client to speak for. */
export async function openLiveSession({
  creditRaw,
  change,
  open = (deps: VoiceDeps, input: VoiceSessionInput, start: LiveStart) =>
    openLive(deps, input, start),
  ...session
}: {
  readonly creditRaw?: bigint;
  readonly change?: Partial<VoiceDeps>;
  readonly open?: (deps: VoiceDeps, input: VoiceSessionInput, start: LiveStart) => SocketSession;
  readonly [member: string]: unknown;
} = {}) {
  const read = readStart({ model: 'local/realtime', ...session }, 'start-1');
  assert('start' in read, 'the session can be');
  const { config, start } = read;
  const world = {
    capOf: liveTurnCap,
    config,
    ...(change && { change }),
    ...(creditRaw && { creditRaw }),
  };
  const opened = await openInput(world);
  const { clock, input } = opened;
  const pipeline = { ...input.pipeline, llm: createScriptedLlm(input.pipeline.llm) };
  const live = open(opened.deps, { ...input, pipeline }, start);
  const socket = new FakeSocket();
  live.attach(socket);
  const send = (event: object) => live.frame(Buffer.from(JSON.stringify(event)));

  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      clock.advance(Math.min(100, left));
      await settleAll();
    }
  };
  /** Real-time pace, 100 ms at a time. */
  const speak = async (pcm: Int16Array) => {
    for (let at = 0; at < pcm.length; at += LIVE_RATE / 10) {
      const audio = Buffer.from(bytesOf(pcm.slice(at, at + LIVE_RATE / 10))).toString('base64');
      send({ type: 'session.input_audio.append', audio });
      await pass(100);
    }
  };
  const errors = () =>
    socket.of('error').map(({ error }) => error as { code: string; client_event_id?: string });
  return { ...opened, errors, live, pass, send, socket, speak };
}
