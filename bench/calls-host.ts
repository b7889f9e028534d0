import { HEARING_HZ } from '../media/hearing.ts';
import { Resampler } from '../media/resample.ts';
import { favourMedia } from '../src/app/favour-media.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import type { AgentSocket } from '../src/http/route/socket-route.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { createRealtimeSocket } from '../src/protocols/openai-realtime/realtime-socket.ts';
import { startEdge } from '../test/support/edge.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';
import { openBareEcho } from './bare-echo.ts';
import { realtimeStamp } from './frame-stamp.ts';
import { createLateness, timedHandler } from './lateness.ts';
import { createPromptEngines, SECOND } from './prompt-engines.ts';
import { ownAgents } from './relays.ts';

/**
 * A server of calls, in a process and on a core of its own: the real edge and real sessions over engines that answer at
 * once and a ledger in memory, or a socket that sends every message back. The bench asks by message: `lateness`,
 * `forgetLateness`, `windows`, `resampling`.
 */
export type CallsHostOrder = {
  readonly kind: 'bare' | 'live';
  readonly sessions: number;
  /** Whether it looks how late each frame is. */
  readonly isTimed: boolean;
  /** What counts as late. */
  readonly lateMs: number;
};

const CREDIT_RAW = 1_000_000_000n;
const RESAMPLED_FRAMES = 50_000;

process.on('disconnect', () => process.exit(0));
favourMedia();

const order = JSON.parse(process.argv[2] ?? '{}') as CallsHostOrder;
const prompt = createPromptEngines(order.sessions);
const lateness = createLateness({ ...order, agedMicros: realtimeStamp.agedMicros });

async function openLive({ isTimed, sessions }: CallsHostOrder): Promise<number> {
  const { engines } = prompt;
  const { deps, ledger } = await createVoiceWorld({
    clock: systemClock,
    creditRaw: CREDIT_RAW,
    change: { engines, speechGates: await loadSpeechGates() },
  });
  for (let agentId = 1; agentId <= sessions; agentId++) {
    await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: `bench ${agentId}` });
  }
  const socket: AgentSocket = createRealtimeSocket(deps);
  const timed: AgentSocket = {
    ...socket,
    open: async (context) => timedHandler(await socket.open(context), lateness),
  };
  const sockets = [isTimed ? timed : socket];
  return (await startEdge({ sockets, credentials: ownAgents })).port;
}

/** Microseconds of CPU for 20 ms of a line's sound on its way to being heard, of all lines by turns as in their calls. */
function resampling(): number {
  const lines = Array.from({ length: order.sessions }, () => new Resampler(8_000, HEARING_HZ));
  const frame = SECOND.subarray(0, 160);
  const target = new Int16Array(2 * frame.length + 1);
  const run = () => {
    for (let i = 0; i < RESAMPLED_FRAMES; i++) lines[i % lines.length]?.push(frame, target);
  };
  run();
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RESAMPLED_FRAMES;
}

const ANSWERS: Readonly<Record<string, () => unknown>> = {
  lateness: lateness.figures,
  forgetLateness: lateness.forget,
  windows: prompt.windows,
  resampling,
};

process.on('message', (question) => process.send?.(ANSWERS[String(question)]?.()));

const port = await (order.kind === 'bare'
  ? openBareEcho('/v1/realtime', lateness)
  : openLive(order));
process.send?.({ port });
