import type { RelayEffects } from '../../../../machines/realtime-relay.ts';
import type { Ending } from '../../../../machines/transcription-stream.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type {
  RealtimeRail,
  UpstreamSocket,
} from '../../../models/providers/realtime/realtime-rail.ts';
import type { RelayClient, SocketFrame } from '../../../voice/live/downlink.ts';
import type { VoiceDeps } from '../../../voice/live/voice-deps.ts';
import { TOO_MANY_RESPONSES, upstreamClosed } from '../../../voice/live/voice-endings.ts';
import { record } from '../../../voice/recording/record-session.ts';
import type { RecordingStage } from '../../../voice/recording/stage.ts';
import { type RelayKind, SPEECH_RELAY } from '../../../voice/relay/connect-relay.ts';
import {
  RelayCore,
  type RelayDeps,
  type RelayInput,
  stageRelay,
} from '../../../voice/relay/relay-core.ts';
import { EventSender } from '../event-sender.ts';
import { leadingType, readMeteredEvent } from './metered-event.ts';
import { MeteredTurns } from './metered-turns.ts';
import { judgePooledEvent } from './realtime-uplink.ts';
import type { RelayMeter } from './relay-meter.ts';
import { nameForClient, nameForUpstream } from './session-name.ts';
import { createTimeMeter, heldTimeRaw, openTimeHold } from './time-meter.ts';
import { TokenMeter } from './token-meter.ts';
import { openTurnHold } from './turn-hold.ts';
import { isBilledByTime, relayTurnRaw } from './turn-price.ts';
import {
  isAppend,
  isSoundAlone,
  isText,
  itemBytes,
  TurnSigns,
  writtenTokens,
} from './turn-signs.ts';

/** The kind of realtime sessions, billed by the turn or by time. */
export const REALTIME_RELAY: RelayKind<RealtimeRail> = {
  ...SPEECH_RELAY,
  reserveRaw: (model, source) =>
    isBilledByTime(source) ? heldTimeRaw({ source }) : relayTurnRaw(model, source, 0),
  openHold: (deps, owner, model) =>
    isBilledByTime(owner.source) ? openTimeHold(deps, owner) : openTurnHold(deps, owner, model),
};

export type TapedRelay = {
  readonly kind: 'relay';
  readonly input: Pick<RelayInput, 'owner' | 'model'>;
};

/** Opens a relayed session. Records it when this process records sessions. */
export function openRelayed(
  deps: RelayDeps & Pick<VoiceDeps, 'tapes'>,
  input: RelayInput,
): RelaySession {
  const { model, owner } = input;
  const taped: TapedRelay = { kind: 'relay', input: { owner, model } };
  const recorder = record(deps, taped);
  if (recorder === undefined) return new RelaySession(deps, input);
  return recorder.driven(stageRelayed(recorder, deps, input));
}

export function stageRelayed(
  stage: RecordingStage,
  deps: RelayDeps,
  input: RelayInput,
): RelaySession {
  const staged = stageRelay(stage, deps, input);
  return new RelaySession(staged.deps, staged.input);
}

/** Close codes that show that the upstream failed or ended. Other codes may be the client's fault. */
const BREAKDOWNS: ReadonlySet<number> = new Set([1000, 1001, 1006, 1011, 1012, 1013, 1014]);

/** An upstream frame, with its arrival time on the monotonic clock. */
type Arrived = SocketFrame & { readonly arrivedAtMs: number };

/**
 * Relays a live realtime session. Frames pass unchanged both ways, except for the model's name in session events. A
 * turn is journaled before the client receives its end, and the reserve is settled exactly once.
 */
export class RelaySession {
  readonly #clock: Clock;
  readonly #upstream: UpstreamSocket;
  /** The model's name in the catalogue (`here`) and at the upstream (`there`). */
  readonly #names: { readonly here: string; readonly there: string };
  /** True when the client pays the upstream with its own key, and may therefore use all that the upstream offers. */
  readonly #isOwnKey: boolean;
  readonly #core: RelayCore<Arrived>;
  readonly #signs: TurnSigns;
  readonly #sender: EventSender;
  readonly #turns: MeteredTurns;
  readonly #meter: RelayMeter;
  /** True while a turn is being journaled. */
  #isBilling = false;
  #upstreamEnding: Ending | undefined;
  /** True when the upstream failed by itself. The turns in progress were not delivered and are not billed. */
  #isBrokenDown = false;

  constructor(deps: RelayDeps, input: RelayInput) {
    const { clock, random, trace } = deps;
    const { owner, upstream } = input;
    this.#clock = clock;
    this.#upstream = upstream;
    this.#names = { here: input.model.id, there: owner.source.upstreamModel };
    this.#isOwnKey = owner.source.rail === 'byok';
    const core = new RelayCore<Arrived>(deps, input, {
      effects: this.#effects(),
      take: (frame) => this.#take(frame),
      wentOn: () => this.#lookOver(),
    });
    this.#core = core;
    const { life, tally } = core;
    this.#signs = new TurnSigns({ clock, tally, trace });
    this.#sender = new EventSender(random);
    const meterDeps = { ...input, clock, life, send: core.send.bind(core) };
    this.#meter = isBilledByTime(owner.source)
      ? createTimeMeter(meterDeps)
      : new TokenMeter(meterDeps);
    this.#turns = new MeteredTurns({
      clock,
      meter: this.#meter,
      tally,
      trace,
      isOver: () => core.isHungUp,
      tooMany: () => core.fail(TOO_MANY_RESPONSES),
      guard: (work) => core.guard(work),
    });
    core.start();
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#core.life.settled;
  }

  attach(client: RelayClient): void {
    this.#sender.attach(client);
    this.#core.attach(client, {
      arrived: (bytes, isBinary) => ({
        bytes,
        isBinary,
        arrivedAtMs: this.#clock.monotonicMs(),
      }),
      closed: (code, reason) => {
        this.#isBrokenDown = BREAKDOWNS.has(code);
        this.#meter.stopped();
        this.#upstreamClosed(upstreamClosed(code, reason));
      },
    });
  }

  /** Handles a frame of the client. The caller may reuse the bytes afterwards. */
  frame(bytes: Uint8Array, isBinary: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#core.admits(nowMs)) return;
    // The upstream has closed, though its last frames may still wait to be sent to the client.
    if (this.#upstreamEnding !== undefined) return;
    const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // Most frames contain only audio: nothing in them is checked or renamed.
    const isAlone = !isBinary && isSoundAlone(frame);
    if (isAlone) this.#upstream.send(frame, false);
    else if (!this.#sendUp(frame, isBinary)) return;
    const isSound = isAlone || (!isBinary && isAppend(frame));
    const tokens = this.#signs.inputTokens(frame, isSound);
    this.#meter.carried('up', { bytes: frame.length, isSound, tokens });
    if (!isBinary) this.#signs.up(frame, isSound, nowMs);
    this.#core.checkUpstream();
  }

  /**
   * Sends a client's event to the upstream. Returns false, after an error to the client, when the event uses a feature that the
   * pool does not pay for.
   */
  #sendUp(bytes: Uint8Array, isBinary: boolean): boolean {
    const judged = this.#isOwnKey ? { bytes } : judgePooledEvent(bytes);
    if ('problem' in judged) {
      this.#sender.refuse(judged.problem);
      return false;
    }
    const event = judged.bytes;
    this.#upstream.send(isBinary ? event : nameForUpstream(event, this.#names.there), isBinary);
    return true;
  }

  /** Resumes forwarding, because the client's send buffer has room again. */
  drained(): void {
    this.#core.drained();
  }

  drain(): void {
    this.#core.send({ type: 'drain.requested' });
  }

  /** Ends the session after the client disconnected, or after the server gave the client up and closed its socket. */
  socketClosed(): void {
    this.#core.send({ type: 'socket.closed' });
  }

  #effects(): Omit<RelayEffects, 'quietInMs'> {
    return {
      hangUp: (ending) => this.#core.hangUp(() => this.#sender.end(ending)),
      cancelTurns: () => {
        for (const event of this.#turns.cancellations()) this.#upstream.send(event, false);
      },
      settle: (ending) => {
        this.#turns.close();
        this.#meter.end(this.#isBrokenDown ? 0 : this.#turns.size);
        this.#upstream.close();
        this.#core.life.settle(ending);
      },
      leave: () => {
        this.#turns.close();
        this.#meter.end(0);
        this.#upstream.close();
        this.#core.life.leave();
      },
      isInTurn: () => this.#isInTurn,
    };
  }

  /** Handles the next upstream frame. */
  #take(frame: Arrived): void {
    const type = frame.isBinary ? undefined : leadingType(frame.bytes);
    const spokenTokens = this.#signs.spokenTokens(type, frame.bytes);
    this.#meter.carried('down', {
      bytes: frame.bytes.length,
      tokens: isText(type) ? 1 : spokenTokens,
      spokenTokens,
      writtenTokens: writtenTokens(type, frame.bytes),
      itemBytes: itemBytes(type, frame.bytes),
    });
    const event = frame.isBinary ? undefined : readMeteredEvent(frame.bytes, type);
    const billed = event === undefined ? undefined : this.#turns.take(event);
    if (billed === undefined) {
      this.#forward(frame, type);
      if (event?.kind === 'done') this.#turnIsOver();
      return;
    }
    this.#isBilling = true;
    this.#core.downlink.hold();
    void billed.then(() =>
      this.#core.guard(() => {
        this.#isBilling = false;
        this.#forward(frame, type);
        // A queued frame may begin the next turn or end it.
        this.#core.downlink.release();
        this.#turnIsOver();
      }),
    );
  }

  #turnIsOver(): void {
    this.#turns.makeWhole();
    this.#lookOver();
  }

  /** True while a turn is in progress or being billed, or frames are queued that may belong to a turn. */
  get #isInTurn(): boolean {
    return this.#isBilling || this.#turns.size > 0 || this.#core.downlink.hasWaiting;
  }

  #lookOver(): void {
    if (!this.#isInTurn) this.#core.send({ type: 'turns.over' });
    if (this.#upstreamEnding !== undefined) this.#upstreamClosed(this.#upstreamEnding);
  }

  #forward(frame: Arrived, type: string | undefined): void {
    if (this.#core.isHungUp) return;
    const { bytes, isBinary } = frame;
    this.#core.downlink.send(
      isBinary ? frame : { isBinary, bytes: nameForClient(bytes, type, this.#names.here) },
    );
    if (type !== undefined) this.#signs.down(type, frame.bytes, frame.arrivedAtMs);
  }

  /** Reports the upstream's close to the session's machine, once all frames from before the close are handled. */
  #upstreamClosed(ending: Ending): void {
    this.#upstreamEnding = ending;
    if (this.#isBilling || this.#core.downlink.hasWaiting) return;
    this.#core.send({ type: 'upstream.closed', ending });
  }
}
