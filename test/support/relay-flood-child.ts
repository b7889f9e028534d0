/** Three calls of one agent with an application of ConversationRelay, in a process that says for how long it was busy. */
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createRelayLlm, type RelayLlm } from '../../src/phone/voice/relay/relay-llm.ts';
import { createDestinationGuard } from '../../src/platform/egress/destination-guard.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { responderRequest } from './responder-request.ts';
import { threadCpuMs } from './thread-cpu.ts';

/** What the process was busy for in one go at most, its part of the time in percent, and its memory at most. */
export type FloodedWord = {
  readonly stallMs: number;
  readonly busyPercent: number;
  readonly rssBytes: number;
};

const CALLS = 3;
const LOOK_EVERY_MS = 4;

const [, , url = '', forMs = '0'] = process.argv;
const clock = systemClock;
const guard = createDestinationGuard({
  resolve: async () => ['127.0.0.1'],
  clock,
  allowLocalhost: true,
  domainAllowlist: [],
});
const deps = { clock, guard, line: new MessageQueue(clock), random: systemRandom };

/** Takes all that an application says, as a call does, and nothing more of one that was cut off. */
async function hear(llm: RelayLlm): Promise<void> {
  const reply = llm.reply(responderRequest([], new AbortController().signal));
  try {
    while ((await reply.next()) !== undefined);
  } catch {
    llm.onUnprompted(() => {});
    llm.close();
  }
}

for (let call = 0; call < CALLS; call++) {
  const parties = { callId: `CA${call}`, from: '+14155550100', to: '+14155550199' } as const;
  const llm = createRelayLlm(deps, { ...parties, direction: 'inbound', agentId: 1, url });
  llm.onUnprompted(() => void hear(llm));
}

const begunMs = clock.monotonicMs();
const begunCpuMs = threadCpuMs();
const begunBytes = process.memoryUsage.rss();
let lastMs = begunCpuMs;
let stallMs = 0;
let rssBytes = 0;
setInterval(() => {
  const nowMs = threadCpuMs();
  stallMs = Math.max(stallMs, nowMs - lastMs);
  lastMs = nowMs;
  rssBytes = Math.max(rssBytes, process.memoryUsage.rss() - begunBytes);
}, LOOK_EVERY_MS);

setTimeout(() => {
  const busyPercent = (100 * (threadCpuMs() - begunCpuMs)) / (clock.monotonicMs() - begunMs);
  process.send?.({ stallMs, busyPercent, rssBytes } satisfies FloodedWord, () => process.exit(0));
}, Number(forMs));
process.on('disconnect', () => process.exit(0));
