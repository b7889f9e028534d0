import type { SessionEndReason } from '../../../machines/call.ts';
import { assert } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type ChargeRow, chargeRow } from '../../ledger/rules/companion.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Spender, TakenSession } from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { Booking } from '../../voice/billing/close-session-hold.ts';
import {
  openSessionHold,
  resumeSessionHold,
  type SessionHoldDeps,
  type SessionHoldOwner,
} from '../../voice/billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../../voice/billing/session-holds.ts';
import type { HoldNameOf } from '../../voice/cascade/model-binding.ts';
import type { AnsweredBy } from '../carriers/carrier.ts';
import { type LegCosts, secondsWithin, sumOf } from '../rate-card.ts';
import { type Recording, spanOf } from '../recordings/recording.ts';
import { type Call, lineOf, ownNumber } from './call.ts';
import { callEnded } from './call-events.ts';
import { CallMeter, TRANSFERRED_USAGE, useOfJournal } from './call-meter.ts';
import { isOfSession, NOT_OPENED, reasonOf } from './end-reason.ts';
import type { RowEnd } from './ending/end-store.ts';

/**
 * Destination of phone charges for the spend controls. No allowlist applies to it, because an agent rents a number to use it.
 */
export const PHONE_DESTINATION = { host: 'phone', payee: null, isOperators: true } as const;

/** Silence after which a line may be dead; a live one brings sound every 20 ms. */
const STALLED_MS = 1_000;

export const phoneSource = ({ carrier }: Pick<Call, 'carrier'>): Source => ({
  rail: 'direct-account',
  provider: carrier,
  upstreamModel: 'phone',
  rates: {},
  marginBps: 0,
});

/** Returns who pays for a call: its agent, key and task, with the tags for reports. */
export const spenderOf = (call: Call): Spender => ({
  agentId: call.agentId,
  taskId: call.taskId,
  ...(call.keyId !== null && { keyId: call.keyId }),
  ...(call.keyRootId !== null && { keyRootId: call.keyRootId }),
  ...(call.taskValueBps !== null && { taskValueBps: call.taskValueBps }),
  ...(call.actionId !== null && { actionId: call.actionId }),
  ...(call.customerId !== null && { customerId: call.customerId }),
});

/** Returns the charge rows of a call: one for each leg that costs something. */
export function chargesOf(
  call: Call,
  legs: LegCosts,
  { status, ageMs }: { readonly status: ChargeRow['status']; readonly ageMs: number },
): ChargeRow[] {
  const target = `phone://${ownNumber(call)}/call/${call.callId}`;
  const lines = [
    { targetUrl: target, costRaw: legs.transportRaw },
    { targetUrl: `${target}/stt`, costRaw: legs.sttRaw },
    { targetUrl: `${target}/tts`, costRaw: legs.ttsRaw },
  ];
  return lines
    .filter(({ costRaw }) => costRaw > 0n)
    .map((line) =>
      chargeRow(call, {
        ...line,
        targetHost: PHONE_DESTINATION.host,
        method: 'CALL',
        status,
        sessionId: call.callId,
        latencyMs: ageMs,
      }),
    );
}

/**
 * Returns the legs of a call when only `chargedRaw` of their cost was taken. The missing amount comes off speech first, then
 * recognition, then the line.
 */
export function legsWithin(legs: LegCosts, chargedRaw: bigint): LegCosts {
  let overRaw = sumOf(legs) - chargedRaw;
  const less = (raw: bigint): bigint => {
    const offRaw = overRaw > raw ? raw : overRaw > 0n ? overRaw : 0n;
    overRaw -= offRaw;
    return raw - offRaw;
  };
  const ttsRaw = less(legs.ttsRaw);
  const sttRaw = less(legs.sttRaw);
  return { transportRaw: less(legs.transportRaw), sttRaw, ttsRaw };
}

/** Holds and charges of one live call: its single reserve, and the meter of its legs. */
export type CallMoney = {
  readonly owner: SessionHoldOwner;
  readonly holds: SessionHolds;
  readonly meter: CallMeter;
  /** Facts of the recording; undefined: no recording was announced. */
  readonly recording: { facts: Pick<Recording, 'announcedAt' | 'status'> | undefined };
  /** True when the peer is yet to hear that the call is recorded. */
  readonly expectsRecording: boolean;
  /** Returns the name of the hold that pays for a model of the catalogue. */
  readonly holdNameOf: HoldNameOf;
  /** Returns the age of the line in seconds. */
  readonly lineSeconds: () => number;
  /** Returns the seconds of line that the reserve still pays for, when it pays for nothing else. */
  readonly secondsLeft: () => number;
  /** Notes that the media stream is gone: unless `unfreeze` follows, the line counts as ended now. */
  readonly freeze: () => void;
  readonly unfreeze: () => void;
  /** Sets the measure of the peer's silence. After a second of silence the line counts as ended with the last sound. */
  readonly followSilence: (silentMs: () => number) => void;
  /** Stores who has answered the call, for its receipt. */
  readonly answeredBy: (answeredBy: AnsweredBy) => void;
  /** Sets the handoff data of the responder, which the receipt shows. */
  readonly handedOff: (data: string) => void;
  /**
   * Closes the holds of a call that did not open, without a charge or an event. Returns false when this process may not have
   * closed them.
   */
  readonly release: () => Promise<boolean>;
  /** Returns the cost, length and end reason of a settled call. Undefined: the call is not settled. */
  readonly receipt: () => CallSettlement | undefined;
  /**
   * Returns the end reason of a conversation whose settlement is not known. A call with `call_transfer` is left unsettled on
   * purpose.
   */
  readonly undecided: () => SessionEndReason | undefined;
};

export type CallSettlement = {
  readonly legs: LegCosts;
  readonly durationSeconds: number;
  readonly reason: SessionEndReason;
};

type MoneyDeps = SessionHoldDeps & { readonly clock: Clock };

/** Writes the end reason of a call, unless its row has one, and returns the row's end. Undefined when another process has the call. */
type GiveReason = (reason: SessionEndReason, epoch: number) => Promise<RowEnd | undefined>;

/**
 * Creates the money of a call that begins now, or that this process has taken over. `holds.hold(MAIN_HOLD, …)` opens the main
 * hold, unless `taken` brings it.
 */
export function createCallMoney(
  deps: MoneyDeps,
  call: Call,
  {
    giveReason = async () => undefined,
    mayAnnounce = call.status === 'pending',
    recording: known,
    taken,
    wallet,
  }: {
    readonly giveReason?: GiveReason;
    readonly taken: TakenSession | undefined;
    readonly wallet: string | null;
    readonly recording?: Recording | undefined;
    /** True when the peer may still hear the notice that the call is recorded. Default: true for a new call. */
    readonly mayAnnounce?: boolean;
  },
): CallMoney {
  const { clock } = deps;
  const before = useOfJournal(taken?.usage ?? {});
  const line = lineOf(call);
  const expectsRecording = call.options.isRecorded && known === undefined && mayAnnounce;
  const meter = new CallMeter({
    card: call.rates,
    line,
    before,
    expectsRecording,
    recorded: spanOf(known),
  });
  const recording: CallMoney['recording'] = { facts: known };
  const beganMs = clock.monotonicMs();
  // The line is billed from the answer on, even when another process had the media stream before.
  const agedMs = call.startedAt === null ? 0 : Math.max(0, clock.now() - call.startedAt.getTime());
  let frozenMs: number | undefined;
  let answeredBy: AnsweredBy | null = call.answeredBy ?? null;
  let handoffData = call.handoffData;
  let silentMs = () => 0;
  const stalledMs = () => (silentMs() < STALLED_MS ? 0 : silentMs());
  const lineSeconds = () =>
    (agedMs + (frozenMs ?? clock.monotonicMs() - stalledMs()) - beganMs) / 1_000;
  let receipt: CallSettlement | undefined;
  let isReleased = false;
  let given: SessionEndReason | undefined;
  let undecided: SessionEndReason | undefined;
  const booking: Booking = {
    target: `phone://${ownNumber(call)}/call/${call.callId}`,
    destination: PHONE_DESTINATION,
    account: 'telephony',
    charges: (chargedRaw, status) =>
      chargesOf(call, legsWithin(meter.legs, chargedRaw), { status, ageMs: lineSeconds() * 1_000 }),
    async ending(ending, { epoch }) {
      if (isReleased) return;
      // Another process may have received the hang-up before: its reason stands, and the event must say the same.
      const first = await giveReason(reasonOf(ending, holds.isReserveSpent), epoch).catch(
        (err: unknown) => {
          deps.log.warn({ err, callId: call.callId }, 'the reason of an end was not written');
        },
      );
      // The carrier's verdict may have been written while this process opened the call.
      answeredBy = first?.answeredBy ?? answeredBy;
      if (first !== undefined && isOfSession(first.reason)) given = first.reason;
    },
    events(chargedRaw, ending) {
      if (isReleased) return [];
      const ended = receiptOf(chargedRaw, ending);
      return [
        callEnded({ ...call, answeredBy, handoffData, wallet }, { ...ended, isBackstop: false }),
      ];
    },
    settled(chargedRaw, ending) {
      receipt = receiptOf(chargedRaw, ending);
    },
    undecided(ending) {
      undecided = reasonGiven(ending);
    },
    // The line of a transferred call continues at the carrier, and is paid from the same hold.
    leftOpen: (ending) => (ending === 'call_transfer' ? TRANSFERRED_USAGE : undefined),
  };
  const reasonGiven = (ending: string) => given ?? reasonOf(ending, holds.isReserveSpent);
  const receiptOf = (chargedRaw: bigint, ending: string) => ({
    legs: legsWithin(meter.legs, chargedRaw),
    durationSeconds: Math.ceil(meter.use.lineSeconds),
    reason: reasonGiven(ending),
    recording: recording.facts,
  });
  const source = phoneSource(call);
  const main: SessionHoldOwner = {
    spender: spenderOf(call),
    sessionId: call.callId,
    kind: 'call',
    model: 'phone',
    source,
    booking,
  };
  // A process that takes over a call opens new holds for its models: the holds of the previous process are settled separately.
  const suffix = taken === undefined ? '' : `.${taken.claim.epoch}`;
  const holdIdOf = (name: string) => `${call.callId}.${name}${suffix}`;
  const holds = new SessionHolds(
    (name, reserveRaw, isQuiet) =>
      openSessionHold(deps, name === MAIN_HOLD ? main : modelOwner(name), reserveRaw, isQuiet),
    { hasOneReserve: true, holdIdOf },
  );
  const bought = new Map<string, { readonly model: string; readonly source: Source }>();
  const modelOwner = (name: string): SessionHoldOwner => {
    const model = bought.get(name);
    assert(model !== undefined, 'a hold is named before it is opened');
    return {
      ...model,
      spender: main.spender,
      sessionId: holdIdOf(name),
      partOf: call.callId,
      kind: 'realtime',
    };
  };
  if (taken !== undefined) holds.adopt(resumeSessionHold(deps, main, taken));
  return {
    owner: main,
    holds,
    meter,
    recording,
    expectsRecording,
    lineSeconds,
    secondsLeft() {
      const used = { lineSeconds: lineSeconds(), sttSeconds: 0, ttsCharacters: 0 };
      return secondsWithin(call.rates, line, holds.mainFreeRaw - meter.quoteRaw(used));
    },
    answeredBy(known) {
      answeredBy = known;
    },
    handedOff(data) {
      handoffData = data;
    },
    async release() {
      isReleased = true;
      await holds.settle({ reason: NOT_OPENED, status: 'failed' });
      return receipt !== undefined;
    },
    receipt: () => receipt,
    undecided: () => undecided,
    freeze() {
      frozenMs ??= clock.monotonicMs();
    },
    followSilence(measure) {
      silentMs = measure;
    },
    unfreeze() {
      frozenMs = undefined;
    },
    holdNameOf({ id }, seller) {
      const name = seller.rail === 'byok' ? `${makerOf(id)}.own` : makerOf(id);
      if (!bought.has(name)) bought.set(name, { model: id, source: seller });
      return name;
    },
  };
}
