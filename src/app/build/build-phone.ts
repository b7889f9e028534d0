import { assert } from '../../kernel/assert.ts';
import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createCallLimits } from '../../phone/call-limits/call-limits.ts';
import { answerMedia } from '../../phone/calls/answer-media.ts';
import type { CallDeps } from '../../phone/calls/call-deps.ts';
import { endUnwanted } from '../../phone/calls/ending/end-unwanted.ts';
import { directCall, hearCarrier } from '../../phone/calls/hear-carrier.ts';
import { createDoNotCall } from '../../phone/dialling/do-not-call.ts';
import { createNumbers } from '../../phone/numbers/numbers.ts';
import { renewNumbers } from '../../phone/numbers/renew-numbers.ts';
import type { RateCard } from '../../phone/rate-card.ts';
import { createSuspensions } from '../../phone/suspensions/suspensions.ts';
import { createVoiceSettings } from '../../phone/voice/voice-settings.ts';
import { createDestinationGuard } from '../../platform/egress/destination-guard.ts';
import { createResolveHost } from '../../platform/egress/resolve-host.ts';
import { buildCalls, type CallParts, callServices } from './build-calls.ts';
import { buildCarrier } from './build-carrier.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

export type PhoneParts = Pick<CallParts, 'voice' | 'gateway' | 'services'> & {
  readonly rateCard: RateCard;
};

/**
 * Builds phone numbers, calls and the voice of agents on calls, and the workers that renew and release numbers and end calls.
 */
export function buildPhone(
  world: World,
  ledgerParts: LedgerParts,
  parts: PhoneParts,
  teardown: Teardown,
) {
  const { sql, clock, log, random, catalogue, settings } = world;
  const { ledger, time } = ledgerParts;
  const { allowLocalhost } = settings.x402;
  const { rateCard } = parts;
  let calls: CallDeps | undefined;
  const living = () => {
    assert(calls !== undefined, 'a carrier is called before it calls');
    return calls;
  };
  const carrier = buildCarrier(world, parts.voice, {
    direct: (event) => directCall(living(), event),
    hear: (event) => hearCarrier(living(), event),
    answerMedia: (start) => answerMedia(living(), start),
  });
  const numbers = { sql, ledger, clock, now: time.now, log };
  if (carrier !== undefined) {
    const renewing = renewNumbers({ ...numbers, seller: carrier });
    teardown.use('phone workers', startWorkers(world, [renewing]));
  }
  const guard = createDestinationGuard({
    resolve: createResolveHost(),
    clock,
    allowLocalhost,
    domainAllowlist: [],
    needsTls: true,
  });
  const voiceSettings = createVoiceSettings({
    sql,
    catalogue,
    isOff: carrier === undefined,
    sealingSecret: settings.providerKeySecret,
    guard,
  });
  const calling = { ...parts, ledger: ledgerParts, guard, voiceOf: voiceSettings.ofCall };
  if (carrier !== undefined) calls = buildCalls(world, calling, carrier, teardown);
  return {
    hasPhone: carrier !== undefined,
    numbers: createNumbers({
      ...numbers,
      seller: carrier,
      random,
      rateCard,
      countries: settings.phone.countries,
    }),
    voiceSettings,
    doNotCall: createDoNotCall({ sql }),
    suspensions: createSuspensions({ sql, log }),
    /** Ends the streams of events: the process stops. */
    closeFeeds: () => calls?.feed.close(),
    callLimits: createCallLimits({ sql }),
    /** Ends the calls at this process whose agent was stopped or whose key was revoked. */
    endStoppedCalls(): void {
      if (calls === undefined) return;
      endUnwanted(calls).catch((err: unknown) =>
        log.error({ err }, 'stopped calls were not found'),
      );
    },
    ...callServices(calls),
  };
}
