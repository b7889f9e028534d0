import { type ActorRefFrom, createActor } from 'xstate';
import {
  type RealtimeRelayEvent,
  type RelayEffects,
  realtimeRelayMachine,
} from '../../../machines/realtime-relay.ts';
import type { Ending } from '../../../machines/transcription-stream.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import { leadingType, readMeteredEvent } from '../../models/providers/realtime/metered-event.ts';
import type { UpstreamSocket } from '../../models/providers/realtime/realtime-rail.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import { Downlink, type RelayClient, type SocketFrame } from '../live/downlink.ts';
import { EventAllowance } from '../live/event-allowance.ts';
import { SessionTally } from '../live/session-tally.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import {
  BROKEN,
  CLIENT_SLOW,
  TOO_MANY_EVENTS,
  TOO_MANY_RESPONSES,
  UPSTREAM_SLOW,
  upstreamClosed,
} from '../live/voice-endings.ts';
import { VoiceLife } from '../live/voice-life.ts';
import { EventSender } from '../protocols/openai-realtime/event-sender.ts';
import { MeteredTurns } from './metered-turns.ts';
import type { RelayMeter } from './relay-meter.ts';
import { nameForClient, nameForUpstream } from './session-name.ts';
import { createTimeMeter } from './time-meter.ts';
import { createTokenMeter } from './token-meter.ts';
import { isBilledByTime } from './turn-price.ts';
import { isAppend, TurnSigns } from './turn-signs.ts';

export type RelayDeps = Pick<
  VoiceDeps,
  'clock' | 'random' | 'sessions' | 'metrics' | 'trace' | 'log'
>;

export type RelayInput = {
  readonly owner: SessionHoldOwner;
  readonly model: Model;
  readonly sessionHold: SessionHold;
  readonly upstream: UpstreamSocket;
};

/** Close codes that mean the upstream failed or ended. A client can cause any other code. */
const BREAKDOWNS: ReadonlySet<number> = new Set([1000, 1001, 1006, 1011, 1012, 1013, 1014]);

/** An upstream frame, with its arrival time on the monotonic clock. */
type Arrived = SocketFrame & { readonly arrivedAtMs: number };

/**
 * Relays a live realtime session. Frames pass unchanged both ways, except for the model's name in session events. A
 * turn is journaled before the client receives its end, and the reserve is settled exactly once.
 */
export class RelaySession {
  readonly #deps: Pick<VoiceDeps, 'clock'>;
  readonly #upstream: UpstreamSocket;
  /** The model's name in the catalogue (`here`) and at the upstream (`there`). */
  readonly #names: { readonly here: string; readonly there: string };
  readonly #life: VoiceLife;
  readonly #tally: SessionTally;
  readonly #signs: TurnSigns;
  readonly #sender: EventSender;
  readonly #downlink: Downlink<Arrived>;
  readonly #turns: MeteredTurns;
  readonly #meter: RelayMeter;
  readonly #allowance: EventAllowance;
  readonly #actor: ActorRefFrom<typeof realtimeRelayMachine>;
  #isHungUp = false;
  /** A turn is being journaled. */
  #isBilling = false;
  #upstreamEnding: Ending | undefined;
  /** The upstream failed by itself: it did not deliver the turns in progress, which are not billed. */
  #isBrokenDown = false;

  constructor(deps: RelayDeps, input: RelayInput) {
    const { clock, random, trace } = deps;
    const { owner, upstream } = input;
    this.#deps = deps;
    this.#upstream = upstream;
    this.#names = { here: input.model.id, there: owner.source.upstreamModel };
    this.#tally = new SessionTally({ ...deps, kind: 'relay' });
    this.#signs = new TurnSigns({ clock, tally: this.#tally, trace });
    this.#life = new VoiceLife(deps, { ...input, tally: this.#tally });
    this.#sender = new EventSender(random);
    this.#allowance = new EventAllowance(clock.monotonicMs());
    this.#downlink = new Downlink({
      clock,
      upstream,
      take: (frame) => this.#take(frame),
      wentOn: () => this.#lookOver(),
      stalled: () => this.#fail(CLIENT_SLOW),
    });
    const send = (event: RealtimeRelayEvent) => this.#send(event);
    const createMeter = isBilledByTime(owner.source) ? createTimeMeter : createTokenMeter;
    this.#meter = createMeter({ ...input, clock, life: this.#life, send });
    this.#turns = new MeteredTurns({
      ...{ clock, meter: this.#meter, tally: this.#tally, trace },
      isOver: () => this.#isHungUp,
      tooMany: () => this.#fail(TOO_MANY_RESPONSES),
      guard: (work) => this.#guard(work),
    });
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

  attach(client: RelayClient): void {
    this.#sender.attach(client);
    this.#downlink.attach(client);
    this.#upstream.listen({
      frame: (bytes, isBinary) =>
        this.#guard(() => {
          const arrivedAtMs = this.#deps.clock.monotonicMs();
          if (!this.#downlink.push({ bytes, isBinary, arrivedAtMs })) this.#fail(BROKEN);
        }),
      closed: (code, reason) => {
        this.#isBrokenDown = BREAKDOWNS.has(code);
        this.#meter.stopped();
        this.#upstreamClosed(upstreamClosed(code, reason));
      },
    });
  }

  /** The caller may reuse the bytes after this returns. */
  frame(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isHungUp) return;
    const nowMs = this.#deps.clock.monotonicMs();
    if (!this.#allowance.take(nowMs)) {
      this.#fail(TOO_MANY_EVENTS);
      return;
    }
    // The upstream has closed, and its last frames may still wait for the client.
    if (this.#upstreamEnding !== undefined) return;
    this.#upstream.send(isBinary ? bytes : nameForUpstream(bytes, this.#names.there), isBinary);
    const isSound = !isBinary && isAppend(bytes);
    const tokens = this.#signs.inputTokens(bytes);
    this.#meter.carried('up', { bytes: bytes.length, isSound, tokens });
    if (!isBinary) this.#signs.up(bytes, nowMs);
    if (this.#upstream.unsentBytes > LIMITS.relayUntakenBytes) this.#fail(UPSTREAM_SLOW);
  }

  /** The client's send buffer has room again. */
  drained(): void {
    this.#guard(() => this.#downlink.caughtUp());
  }

  drain(): void {
    this.#send({ type: 'drain.requested' });
  }

  /** The client disconnected, or the server gives it up and closes its socket. */
  socketClosed(): void {
    this.#send({ type: 'socket.closed' });
  }

  #effects(): RelayEffects {
    const { clock } = this.#deps;
    const quietAtMs = () => this.#allowance.lastAtMs + LIMITS.realtimeIdleSeconds * 1_000;
    return {
      hangUp: (ending) => this.#hangUp(ending),
      cancelTurns: () => {
        for (const event of this.#turns.cancellations()) this.#upstream.send(event, false);
      },
      settle: (ending) => {
        this.#turns.close();
        this.#meter.end(this.#isBrokenDown ? 0 : this.#turns.size);
        this.#upstream.close();
        this.#life.settle(ending);
      },
      leave: () => {
        this.#turns.close();
        this.#meter.end(0);
        this.#upstream.close();
        this.#life.leave();
      },
      isInTurn: () => this.#isInTurn,
      quietInMs: () => Math.max(0, quietAtMs() - clock.monotonicMs()),
    };
  }

  /** Handles the next upstream frame. */
  #take(frame: Arrived): void {
    const type = frame.isBinary ? undefined : leadingType(frame.bytes);
    const tokens = this.#signs.answerTokens(type, frame.bytes);
    this.#meter.carried('down', { bytes: frame.bytes.length, tokens });
    const event = frame.isBinary ? undefined : readMeteredEvent(frame.bytes, type);
    const billed = event === undefined ? undefined : this.#turns.take(event);
    if (billed === undefined) {
      this.#forward(frame, type);
      if (event?.kind === 'done') this.#turnIsOver();
      return;
    }
    this.#isBilling = true;
    this.#downlink.hold();
    void billed.then(() =>
      this.#guard(() => {
        this.#isBilling = false;
        this.#forward(frame, type);
        // A waiting frame may begin the next turn, or end it.
        this.#downlink.release();
        this.#turnIsOver();
      }),
    );
  }

  #turnIsOver(): void {
    this.#turns.makeWhole();
    this.#lookOver();
  }

  /** Waiting frames may belong to a turn. */
  get #isInTurn(): boolean {
    return this.#isBilling || this.#turns.size > 0 || this.#downlink.hasWaiting;
  }

  #lookOver(): void {
    if (!this.#isInTurn) this.#send({ type: 'turns.over' });
    if (this.#upstreamEnding !== undefined) this.#upstreamClosed(this.#upstreamEnding);
  }

  #forward(frame: Arrived, type: string | undefined): void {
    if (this.#isHungUp) return;
    const { bytes, isBinary } = frame;
    this.#downlink.send(
      isBinary ? frame : { isBinary, bytes: nameForClient(bytes, type, this.#names.here) },
    );
    if (type !== undefined) this.#signs.down(type, frame.bytes, frame.arrivedAtMs);
  }

  /** Frames from before the close are handled first. */
  #upstreamClosed(ending: Ending): void {
    this.#upstreamEnding = ending;
    if (this.#isBilling || this.#downlink.hasWaiting) return;
    this.#send({ type: 'upstream.closed', ending });
  }

  #hangUp(ending: Ending): void {
    if (this.#isHungUp) return;
    this.#isHungUp = true;
    this.#sender.end(ending);
    this.#guard(() => this.#downlink.abandon());
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
