import { type ActorRefFrom, createActor } from 'xstate';
import {
  type RealtimeRelayEvent,
  type RelayEffects,
  realtimeRelayMachine,
} from '../../../machines/realtime-relay.ts';
import type { Ending } from '../../../machines/transcription-stream.ts';
import { within } from '../../kernel/clock.ts';
import { DRAINING } from '../../kernel/draining.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import {
  type LiveEvent,
  readLiveEvent,
  spokenBytes,
} from '../../models/providers/realtime/live-event.ts';
import { leadingType } from '../../models/providers/realtime/metered-event.ts';
import { Downlink, type RelayClient, type SocketFrame } from '../live/downlink.ts';
import { EventAllowance } from '../live/event-allowance.ts';
import { SessionTally } from '../live/session-tally.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import {
  BROKEN,
  CLIENT_SLOW,
  TOO_MANY_EVENTS,
  UPSTREAM_CLOSED,
  UPSTREAM_SLOW,
} from '../live/voice-endings.ts';
import { VoiceLife } from '../live/voice-life.ts';
import { closeReason, LiveSender } from '../protocols/openai-live/live-sender.ts';
import { shownEvent, startEvent, usageOf } from './live-frames.ts';
import { judgeUplink } from './live-uplink.ts';
import type { RelayDeps, RelayInput } from './relay-session.ts';
import { SecondsMeter } from './seconds-meter.ts';

export type LiveRelayInput = RelayInput & {
  /** The settings of the session, as its client has them. */
  readonly session: Json;
  /** The client's own id of its `session.start`. */
  readonly eventId: string | null;
  /** Bytes of the session's audio in a millisecond. */
  readonly bytesPerMs: number;
};

const CLOSE = Buffer.from('{"type":"session.close"}');
const CLOSED: Ending = { code: 1000, reason: 'closed' };
const SETTLED_ELSEWHERE: Ending = { code: 1011, reason: 'settled elsewhere' };

/**
 * Relays a live session. Frames pass unchanged, except that the upstream's descriptions of the session name the catalogue's
 * model, and its reports of usage state what is billed. A report reaches the client once it is journaled, and audio never
 * waits for that. The reserve is settled exactly once.
 */
export class LiveRelay {
  readonly #deps: Pick<VoiceDeps, 'clock'>;
  readonly #input: LiveRelayInput;
  readonly #life: VoiceLife;
  readonly #tally: SessionTally;
  readonly #sender: LiveSender;
  readonly #downlink: Downlink;
  readonly #meter: SecondsMeter;
  readonly #allowance: EventAllowance;
  readonly #actor: ActorRefFrom<typeof realtimeRelayMachine>;
  /** The session as the upstream described it last, by the catalogue's name of its model. */
  #session: Json;
  #isHungUp = false;
  #hungUpAtMs: number | undefined;
  #heardAtMs: number;
  /** The upstream has reported the end of the session. */
  #isClosed = false;
  /** The client has received that report. */
  #isCloseTold = false;
  #upstreamEnding: Ending | undefined;

  constructor(deps: RelayDeps, input: LiveRelayInput) {
    const { clock, random } = deps;
    const { model, owner, session, upstream } = input;
    this.#deps = deps;
    this.#input = input;
    this.#session = { ...session, id: owner.sessionId, model: model.id, status: 'active' };
    this.#heardAtMs = clock.monotonicMs();
    this.#tally = new SessionTally({ ...deps, kind: 'relay' });
    this.#life = new VoiceLife(deps, { ...input, tally: this.#tally });
    this.#sender = new LiveSender(random);
    this.#allowance = new EventAllowance(clock.monotonicMs());
    this.#downlink = new Downlink({
      clock,
      upstream,
      take: (frame) => this.#take(frame),
      wentOn: () => this.#lookOver(),
      stalled: () => this.#fail(CLIENT_SLOW),
    });
    const send = (event: RealtimeRelayEvent) => this.#send(event);
    this.#meter = new SecondsMeter({ ...input, clock, life: this.#life, send });
    const effects = this.#effects();
    this.#actor = createActor(realtimeRelayMachine, { clock, input: { effects } });
    this.#actor.subscribe({
      error: (error) =>
        this.#life.broke(error, [() => effects.hangUp(BROKEN), () => effects.settle(BROKEN)]),
    });
    this.#actor.start();
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#life.settled;
  }

  /** Starts the session at the upstream, and listens. */
  attach(client: RelayClient): void {
    const { eventId, owner, session, upstream } = this.#input;
    this.#sender.attach(client);
    this.#downlink.attach(client);
    upstream.listen({
      frame: (bytes, isBinary) =>
        this.#guard(() => {
          this.#heardAtMs = this.#deps.clock.monotonicMs();
          if (!this.#downlink.push({ bytes, isBinary })) this.#fail(BROKEN);
        }),
      closed: () => {
        this.#upstreamEnding = UPSTREAM_CLOSED;
        this.#lookOver();
      },
    });
    upstream.send(startEvent(session, owner.source.upstreamModel, eventId), false);
  }

  /** Takes one event as bytes, since the protocol is text only. The caller may reuse them after this returns. */
  frame(bytes: Uint8Array): void {
    if (this.#isHungUp) return;
    const nowMs = this.#deps.clock.monotonicMs();
    if (!this.#allowance.take(nowMs)) {
      this.#fail(TOO_MANY_EVENTS);
      return;
    }
    if (this.#upstreamEnding !== undefined) return;
    const { bytesPerMs, owner, upstream } = this.#input;
    const judged = judgeUplink(bytes, owner.source.rail === 'byok');
    switch (judged.kind) {
      case 'refused':
        this.#sender.refuse(judged.problem);
        return;
      case 'sound': {
        const ms = judged.bytes / bytesPerMs;
        this.#tally.arrived(ms, nowMs);
        this.#tally.heard(ms);
        upstream.send(bytes, false);
        break;
      }
      case 'event':
        upstream.send(Buffer.from(judged.text), false);
    }
    if (upstream.unsentBytes > LIMITS.relayUntakenBytes) this.#fail(UPSTREAM_SLOW);
  }

  /** The client's send buffer has room again. */
  drained(): void {
    this.#sender.drained();
    this.#guard(() => this.#downlink.caughtUp());
  }

  /** Ends the session: it has no turns that could be finished. */
  drain(): void {
    this.#fail(DRAINING);
  }

  /** The client disconnected, or the server gives it up and closes its socket. */
  socketClosed(): void {
    this.#send({ type: 'socket.closed' });
  }

  #effects(): RelayEffects {
    const { upstream } = this.#input;
    const quietAtMs = () => this.#allowance.lastAtMs + LIMITS.realtimeIdleSeconds * 1_000;
    return {
      hangUp: (ending) => this.#hangUp(ending),
      cancelTurns: () => upstream.send(CLOSE, false),
      settle: (ending) => {
        void this.#sayGoodbyeAfter(this.#meter.end(this.#billedUntilMs()), ending);
        upstream.close();
        this.#life.settle(ending);
      },
      leave: () => {
        void this.#sayGoodbyeAfter(this.#meter.end(), SETTLED_ELSEWHERE);
        upstream.close();
        this.#life.leave();
      },
      isInTurn: () => !this.#isClosed && this.#upstreamEnding === undefined,
      quietInMs: () => Math.max(0, quietAtMs() - this.#deps.clock.monotonicMs()),
    };
  }

  /** Until when the session was delivered, where the upstream has not reported its end; otherwise undefined. */
  #billedUntilMs(): number | undefined {
    if (this.#isClosed) return undefined;
    return this.#upstreamEnding === undefined ? this.#hungUpAtMs : this.#heardAtMs;
  }

  /** Handles the next upstream frame. */
  #take(frame: SocketFrame): void {
    const type = frame.isBinary ? undefined : leadingType(frame.bytes);
    const described = frame.isBinary ? undefined : readLiveEvent(frame.bytes, type);
    if (described !== undefined) this.#takeDescription(described);
    else if (!this.#isHungUp) this.#downlink.send(frame);
    const spoken = spokenBytes(type, frame.bytes);
    if (spoken > 0) this.#tally.spoke(spoken / this.#input.bytesPerMs);
  }

  #takeDescription(described: LiveEvent): void {
    const { event, type } = described;
    if (isObject(event.session)) {
      this.#session = { ...event.session, model: this.#input.model.id };
    }
    if (type === 'session.started') this.#meter.started();
    const billed = this.#bill(described);
    const shown = shownEvent(event, this.#session, usageOf(this.#meter.billed));
    if (type === 'session.closed') this.#takeClosed(billed, shown);
    else if (shown.usage === undefined) this.#forward(shown);
    else void billed.then(() => this.#guard(() => this.#forward(shown)));
  }

  /** An end that states no count is billed by the time, as if the upstream had broken off. */
  #bill({ seconds, type }: LiveEvent): Promise<void> {
    if (seconds !== undefined) return this.#meter.report(seconds);
    if (type !== 'session.closed') return this.#meter.entered;
    return this.#meter.end(this.#hungUpAtMs ?? this.#heardAtMs);
  }

  /** The session ends once its last report is journaled. */
  #takeClosed(billed: Promise<void>, shown: Json): void {
    this.#isClosed = true;
    this.#downlink.hold();
    void billed.then(() =>
      this.#guard(() => {
        this.#isCloseTold = !this.#isHungUp;
        this.#forward(shown);
        this.#send({ type: 'upstream.closed', ending: CLOSED });
      }),
    );
  }

  #forward(event: Json): void {
    if (this.#isHungUp) return;
    this.#downlink.send({ bytes: Buffer.from(JSON.stringify(event)), isBinary: false });
  }

  /** Frames from before the close are handled first. */
  #lookOver(): void {
    const ending = this.#upstreamEnding;
    if (ending === undefined || this.#isClosed || this.#downlink.hasWaiting) return;
    this.#send({ type: 'upstream.closed', ending });
  }

  /** Tells the client why, and forwards nothing more. What the session came to follows once the upstream has reported it. */
  #hangUp(ending: Ending): void {
    if (this.#isHungUp) return;
    this.#isHungUp = true;
    this.#hungUpAtMs = this.#deps.clock.monotonicMs();
    this.#sender.fault(ending);
    this.#guard(() => this.#downlink.abandon());
  }

  /** Sends the client what the ledger has journaled, and closes. Waits for the ledger for `relayFinishMs` at most. */
  async #sayGoodbyeAfter(billed: Promise<void>, ending: Ending): Promise<void> {
    await within(this.#deps.clock, LIMITS.relayFinishMs, billed, () => undefined);
    const { code, reason } = ending;
    if (!this.#isCloseTold) {
      const told = { session: this.#session, usage: usageOf(this.#meter.billed) };
      this.#sender.send('session.closed', { reason: closeReason(ending), ...told });
    }
    this.#sender.end({ code, reason });
  }

  /** Catches errors in upstream frames, since no caller would. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#life.logError(error, 'a frame could not be relayed');
      this.#fail(BROKEN);
    }
  }

  #fail(ending: Ending): void {
    this.#send({ type: 'session.failed', ending });
  }

  /** An actor that has ended takes no events. */
  #send(event: RealtimeRelayEvent): void {
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event);
  }
}
