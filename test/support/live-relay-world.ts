import { assert } from '../../src/kernel/assert.ts';
import type { Json } from '../../src/kernel/json.ts';
import type { RateTexts } from '../../src/models/catalogue/builtin/builtin-model.ts';
import type { Model, Source } from '../../src/models/catalogue/catalogue.ts';
import { LiveRelay, type LiveRelayInput } from '../../src/protocols/openai-live/live-relay.ts';
import { openSecondsHold } from '../../src/protocols/openai-live/seconds-meter.ts';
import type { SessionHoldOwner } from '../../src/voice/billing/session-hold.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import { FakeRelayClient, FakeUpstream } from './fake-upstream.ts';
import { ManualClock } from './manual-clock.ts';
import { ratesOf } from './rates-of.ts';
import { TIME_RATES } from './relay-world.ts';
import { AGENT, createVoiceWorld, settleAll } from './voice-world.ts';

/** The session that the upstream describes. */
export const UPSTREAM_SESSION = { id: 'live_u', model: 'live-1', status: 'active', expires_at: 9 };

/** A live session at an upstream over fakes, opened as the socket opens one. A second costs one raw unit. */
export async function startLiveRelay(
  options: {
    readonly rates?: RateTexts;
    readonly creditRaw?: bigint;
    readonly session?: Json;
    readonly rail?: Source['rail'];
    readonly change?: Partial<VoiceDeps>;
    readonly open?: (deps: VoiceDeps, input: LiveRelayInput) => LiveRelay;
  } = {},
) {
  const { creditRaw = 1_000_000n, rail = 'direct-account', rates = TIME_RATES } = options;
  const { open = (deps, input) => new LiveRelay(deps, input) } = options;
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw, change: options.change ?? {} });
  const source: Source = {
    rail,
    provider: 'acme',
    upstreamModel: 'live-1',
    marginBps: 0,
    rates: ratesOf(rates),
  };
  const model: Model = {
    id: 'acme/live',
    modality: 'realtime',
    contextWindow: null,
    maxOutputTokens: null,
    sources: [source],
  };
  const spender = { agentId: AGENT, keyId: 70 };
  const owner: SessionHoldOwner = {
    spender,
    sessionId: 'sess_t',
    kind: 'realtime',
    model: model.id,
    source,
  };
  const distrusted: unknown[] = [];
  const breaker = { distrusted: (seller: unknown) => void distrusted.push(seller) };
  const opened = await openSecondsHold({ ...world.deps, breaker }, owner);
  assert(opened.kind === 'opened', 'the reserve fits');
  const { sessionHold } = opened;
  const upstream = new FakeUpstream();
  const session = open(world.deps, {
    owner,
    model,
    upstream,
    sessionHold,
    bytesPerMs: 48,
    eventId: 'start-1',
    session: options.session ?? { model: 'acme/live', instructions: 'Be brief.' },
  });
  const client = new FakeRelayClient();
  session.attach(client);
  const send = (event: object | string) =>
    session.frame(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)));
  /** The upstream has started the session. */
  const begin = async () => {
    upstream.say({ type: 'session.started', event_id: 'e1', session: UPSTREAM_SESSION });
    await settleAll();
  };
  const report = (seconds: number) =>
    upstream.say({ type: 'session.usage.updated', event_id: 'e2', usage: { seconds } });
  const close = (seconds: number, reason = 'close_requested') =>
    upstream.say({
      type: 'session.closed',
      event_id: 'e3',
      reason,
      session: UPSTREAM_SESSION,
      usage: { seconds },
    });
  const pass = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      clock.advance(1_000);
      await settleAll();
    }
  };
  return {
    ...world,
    begin,
    clock,
    client,
    close,
    distrusted,
    pass,
    report,
    send,
    session,
    sessionHold,
    upstream,
  };
}
