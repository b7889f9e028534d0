import { assert } from '../../src/kernel/assert.ts';
import type { RateTexts } from '../../src/models/catalogue/builtin/builtin-model.ts';
import type { Model, Source } from '../../src/models/catalogue/catalogue.ts';
import type { Span } from '../../src/platform/tracing/span.ts';
import {
  REALTIME_RELAY,
  RelaySession,
} from '../../src/protocols/openai-realtime/relay/relay-session.ts';
import type { SessionHoldOwner } from '../../src/voice/billing/session-hold.ts';
import { SessionTrace } from '../../src/voice/live/session-trace.ts';
import type { FakeLedger } from './fake-ledger.ts';
import { FakeRelayClient, FakeUpstream } from './fake-upstream.ts';
import { ManualClock } from './manual-clock.ts';
import { ratesOf } from './rates-of.ts';
import { TOKEN_RATES } from './relay-world.ts';
import { AGENT, createVoiceWorld } from './voice-world.ts';

/** A relayed session over fakes, opened as the socket opens one. Throws where nothing of its reserve fits. */
export async function startRelaySession(
  options: {
    readonly rates?: RateTexts;
    readonly creditRaw?: bigint;
    /** Set for a model that reasons. */
    readonly efforts?: Source['efforts'];
    /** Changes the ledger before anything is held in it. */
    readonly bind?: (ledger: FakeLedger) => void;
    /** The parent of its span. */
    readonly span?: Span;
  } = {},
) {
  const { rates = TOKEN_RATES, creditRaw = 1_000_000n, bind, efforts, span } = options;
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw });
  bind?.(world.ledger);
  const source: Source = {
    rail: 'direct-account',
    provider: 'acme',
    upstreamModel: 'v',
    marginBps: 0,
    rates: ratesOf(rates),
    efforts,
  };
  const model: Model = {
    id: 'acme/v',
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
  const distrusted: string[] = [];
  const breaker = { distrusted: (source: string) => distrusted.push(source) };
  const opened = await REALTIME_RELAY.openHold({ ...world.deps, breaker }, owner, model);
  assert(opened.kind === 'opened', 'the reserve fits');
  const { sessionHold } = opened;
  const upstream = new FakeUpstream();
  const trace =
    span && new SessionTrace({ clock, begin: (name, start) => span.child(name, start) });
  const session = new RelaySession(
    { ...world.deps, trace },
    { owner, model, upstream, sessionHold },
  );
  const client = new FakeRelayClient();
  session.attach(client);
  return { ...world, clock, client, distrusted, sessionHold, session, upstream };
}
