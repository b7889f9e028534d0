import type { Clock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../src/models/catalogue/builtin/providers.ts';
import { noMetrics } from '../../src/platform/tracing/metrics.ts';
import type { ClientSocket } from '../../src/protocols/openai-realtime/event-sender.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { createVoiceMetrics } from '../../src/voice/live/voice-metrics.ts';
import { createVoiceSessions } from '../../src/voice/live/voice-sessions.ts';
import { createFakeLedger, type FakeLedger } from './fake-ledger.ts';
import { createFakeEngines, type FakeEngines } from './voice-fakes.ts';

export const AGENT = 7;

export type VoiceWorld = {
  readonly deps: VoiceDeps;
  readonly ledger: FakeLedger;
  readonly engines: FakeEngines;
};

/** Live voice over fakes: the built-in catalogue, a ledger in memory, engines that need no model. */
export async function createVoiceWorld(options: {
  readonly clock: Clock;
  readonly creditRaw: bigint;
  readonly change?: Partial<VoiceDeps>;
  /** In the place of new ones. */
  readonly engines?: FakeEngines | undefined;
}): Promise<VoiceWorld> {
  const { clock, creditRaw, engines = createFakeEngines() } = options;
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: creditRaw, reference: 'world' });
  const sessions = createVoiceSessions({ clock });
  const deps: VoiceDeps = {
    engines,
    speechGates: undefined,
    catalogue: buildCatalogue({
      providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
      models: BUILTIN_MODELS,
      secret: () => undefined,
    }),
    ledger,
    sessions,
    async callerFacts(agentId) {
      const funds = await ledger.funds(agentId);
      return {
        agentName: 'tester',
        spendableRaw: funds?.spendableRaw ?? 0n,
        heldRaw: funds?.heldRaw ?? 0n,
        spentRaw: ledger.consumedRaw(agentId),
      };
    },
    metrics: createVoiceMetrics(noMetrics, () => sessions.size),
    clock,
    random: systemRandom,
    log: silentLog,
    ...options.change,
  };
  return { deps, ledger, engines };
}

export type SentEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** The client's end of a socket, without a network. */
export class FakeSocket implements ClientSocket {
  readonly events: SentEvent[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  bufferedAmount = 0;

  get isOpen(): boolean {
    return this.closed === undefined;
  }

  send(data: string): boolean {
    if (!this.isOpen) return false;
    this.events.push(JSON.parse(data) as SentEvent);
    return true;
  }

  batch(work: () => void): void {
    work();
  }

  close(code: number, reason = ''): void {
    this.closed ??= { code, reason };
  }

  /** Everything of one type that was sent. */
  of(type: string): SentEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

/** Lets everything run that waits for a promise and not for the clock. */
export async function settleAll(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
