import { DRAINING } from '../../../machines/draining.ts';
import { MACHINE_LIMITS } from '../../../machines/limits.ts';
import type { RelayEffects } from '../../../machines/realtime-relay.ts';
import type { Ending } from '../../../machines/transcription-stream.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { RelayClient, SocketFrame } from '../../voice/live/downlink.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import { UPSTREAM_CLOSED } from '../../voice/live/voice-endings.ts';
import { record } from '../../voice/recording/record-session.ts';
import type { RecordingStage } from '../../voice/recording/stage.ts';
import {
  RelayCore,
  type RelayDeps,
  type RelayInput,
  stageRelay,
} from '../../voice/relay/relay-core.ts';
import { leadingType } from '../openai-realtime/relay/metered-event.ts';
import { type LiveEvent, readLiveEvent, spokenBytes } from './live-event.ts';
import { closeReason, LiveSender } from './live-sender.ts';
import { judgeUplink } from './live-uplink.ts';
import { type BilledSeconds, SecondsMeter } from './seconds-meter.ts';

export type LiveRelayInput = RelayInput & {
  /** Settings of the session, in the form that its client sees. */
  readonly session: Json;
  /** The client's own event id of its `session.start`. */
  readonly eventId: string | null;
  /** Bytes per millisecond of the session's audio. */
  readonly bytesPerMs: number;
};

export type TapedLiveRelay = {
  readonly kind: 'live-relay';
  readonly input: Omit<LiveRelayInput, 'sessionHold' | 'upstream'>;
};

/** Opens a live session at an upstream. Records it when this process records sessions. */
export function openLiveRelay(
  deps: RelayDeps & Pick<VoiceDeps, 'tapes'>,
  input: LiveRelayInput,
): LiveRelay {
  const { sessionHold: _hold, upstream: _upstream, ...begun } = input;
  const taped: TapedLiveRelay = { kind: 'live-relay', input: begun };
  const recorder = record(deps, taped);
  if (recorder === undefined) return new LiveRelay(deps, input);
  return recorder.driven(stageLiveRelay(recorder, deps, input));
}

export function stageLiveRelay(
  stage: RecordingStage,
  deps: RelayDeps,
  input: LiveRelayInput,
): LiveRelay {
  const staged = stageRelay(stage, deps, input);
  return new LiveRelay(staged.deps, staged.input);
}

const CLOSE = Buffer.from('{"type":"session.close"}');
const CLOSED: Ending = { code: 1000, reason: 'closed' };
const SETTLED_ELSEWHERE: Ending = { code: 1011, reason: 'settled elsewhere' };

/**
 * Relays a live session. Frames pass unchanged, except that descriptions of the session contain the catalogue's model name, and
 * usage reports contain the billed usage. A usage report reaches the client once it is journaled; audio never waits for the
 * journal. The reserve is settled exactly once.
 */
export class LiveRelay {
  readonly #clock: Clock;
  readonly #input: LiveRelayInput;
  readonly #core: RelayCore;
  readonly #sender: LiveSender;
  readonly #meter: SecondsMeter;
  /** The session as the upstream described it last, under the catalogue's model id. */
  #session: Json;
  #hungUpAtMs: number | undefined;
  #heardAtMs: number;
  /** True once the upstream has reported the end of the session. */
  #isClosed = false;
  /** True once the client has received the upstream's report of the end. */
  #isCloseTold = false;
  #upstreamEnding: Ending | undefined;

  constructor(deps: RelayDeps, input: LiveRelayInput) {
    const { clock, random } = deps;
    const { model, owner, session } = input;
    this.#clock = clock;
    this.#input = input;
    this.#session = { ...session, id: owner.sessionId, model: model.id, status: 'active' };
    this.#heardAtMs = clock.monotonicMs();
    this.#sender = new LiveSender(random);
    const core = new RelayCore(deps, input, {
      effects: this.#effects(),
      take: (frame) => this.#take(frame),
      wentOn: () => this.#lookOver(),
    });
    this.#core = core;
    const { life } = core;
    this.#meter = new SecondsMeter({ ...input, clock, life, send: (event) => core.send(event) });
    core.start();
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#core.life.settled;
  }

  /** Starts the session at the upstream, and relays its events to `client`. */
  attach(client: RelayClient): void {
    const { eventId, owner, session, upstream } = this.#input;
    this.#sender.attach(client);
    this.#core.attach(client, {
      arrived: (bytes, isBinary) => {
        this.#heardAtMs = this.#clock.monotonicMs();
        return { bytes, isBinary };
      },
      closed: () => {
        this.#upstreamEnding = UPSTREAM_CLOSED;
        this.#lookOver();
      },
    });
    upstream.send(startEvent(session, owner.source.upstreamModel, eventId), false);
  }

  /**
   * Handles one event of the client, passed as bytes since the protocol has text frames only. The caller may reuse the bytes.
   */
  frame(bytes: Uint8Array): void {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#core.admits(nowMs) || this.#upstreamEnding !== undefined) return;
    const { bytesPerMs, owner, upstream } = this.#input;
    const judged = judgeUplink(bytes, owner.source.rail === 'byok');
    switch (judged.kind) {
      case 'refused':
        this.#sender.refuse(judged.problem);
        return;
      case 'sound': {
        const ms = judged.bytes / bytesPerMs;
        this.#core.tally.arrived(ms, nowMs);
        this.#core.tally.heard(ms);
        upstream.send(bytes, false);
        break;
      }
      case 'event':
        upstream.send(Buffer.from(judged.text), false);
    }
    this.#core.checkUpstream();
  }

  /** Called when the client's send buffer has room again. */
  drained(): void {
    this.#sender.drained();
    this.#core.drained();
  }

  /** Ends the session because the server shuts down. A live session has no turns to finish first. */
  drain(): void {
    this.#core.fail(DRAINING);
  }

  /** Ends the session after the client disconnected, or after the server gave the client up and closed its socket. */
  socketClosed(): void {
    this.#core.send({ type: 'socket.closed' });
  }

  #effects(): Omit<RelayEffects, 'quietInMs'> {
    const { upstream } = this.#input;
    return {
      hangUp: (ending) => this.#hangUp(ending),
      cancelTurns: () => upstream.send(CLOSE, false),
      settle: (ending) => {
        void this.#sayGoodbyeAfter(this.#meter.end(this.#billedUntilMs()), ending);
        upstream.close();
        this.#core.life.settle(ending);
      },
      leave: () => {
        void this.#sayGoodbyeAfter(this.#meter.end(), SETTLED_ELSEWHERE);
        upstream.close();
        this.#core.life.leave();
      },
      isInTurn: () => !this.#isClosed && this.#upstreamEnding === undefined,
    };
  }

  /** Returns the time up to which the session was delivered; undefined when the upstream has reported its end. */
  #billedUntilMs(): number | undefined {
    if (this.#isClosed) return undefined;
    return this.#upstreamEnding === undefined ? this.#hungUpAtMs : this.#heardAtMs;
  }

  /** Handles the next upstream frame. */
  #take(frame: SocketFrame): void {
    const type = frame.isBinary ? undefined : leadingType(frame.bytes);
    const described = frame.isBinary ? undefined : readLiveEvent(frame.bytes, type);
    if (described !== undefined) this.#takeDescription(described);
    else if (!this.#core.isHungUp) this.#core.downlink.send(frame);
    const spoken = spokenBytes(type, frame.bytes);
    if (spoken > 0) this.#core.tally.spoke(spoken / this.#input.bytesPerMs);
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
    else void billed.then(() => this.#core.guard(() => this.#forward(shown)));
  }

  /** Bills a report. An end without a count of seconds is billed by the time, as if the upstream had broken off. */
  #bill({ seconds, type }: LiveEvent): Promise<void> {
    if (seconds !== undefined) return this.#meter.report(seconds);
    if (type !== 'session.closed') return this.#meter.entered;
    return this.#meter.end(this.#hungUpAtMs ?? this.#heardAtMs);
  }

  /** Ends the session once its last report is journaled. */
  #takeClosed(billed: Promise<void>, shown: Json): void {
    this.#isClosed = true;
    this.#core.downlink.hold();
    void billed.then(() =>
      this.#core.guard(() => {
        this.#isCloseTold = !this.#core.isHungUp;
        this.#forward(shown);
        this.#core.send({ type: 'upstream.closed', ending: CLOSED });
      }),
    );
  }

  #forward(event: Json): void {
    if (this.#core.isHungUp) return;
    this.#core.downlink.send({ bytes: Buffer.from(JSON.stringify(event)), isBinary: false });
  }

  /** Reports the upstream's close to the session's machine, once all frames from before the close are handled. */
  #lookOver(): void {
    const ending = this.#upstreamEnding;
    if (ending === undefined || this.#isClosed || this.#core.downlink.hasWaiting) return;
    this.#core.send({ type: 'upstream.closed', ending });
  }

  /** Sends the client the error and forwards nothing more. The final usage follows once the upstream has reported it. */
  #hangUp(ending: Ending): void {
    this.#core.hangUp(() => {
      this.#hungUpAtMs = this.#clock.monotonicMs();
      this.#sender.fault(ending);
    });
  }

  /** Sends the client the journaled usage and closes. Waits for the ledger for at most `MACHINE_LIMITS.relay.finishMs`. */
  async #sayGoodbyeAfter(billed: Promise<void>, ending: Ending): Promise<void> {
    await within(this.#clock, MACHINE_LIMITS.relay.finishMs, billed, () => undefined);
    const { code, reason } = ending;
    if (!this.#isCloseTold) {
      const told = { session: this.#session, usage: usageOf(this.#meter.billed) };
      this.#sender.send('session.closed', { reason: closeReason(ending), ...told });
    }
    this.#sender.end({ code, reason });
  }
}

/** Returns the `session.start` event for an upstream, with the upstream's name of the model. */
const startEvent = (session: Json, model: string, eventId: string | null): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'session.start',
      ...(eventId !== null && { event_id: eventId }),
      session: { ...session, model },
    }),
  );

/** Returns an upstream's event for the client: with the catalogue's name of the model, and with the billed usage. */
const shownEvent = (event: Json, session: Json, billed: Json): Json => ({
  ...event,
  ...(isObject(event.session) && { session }),
  ...(reportsUsage(event) && { usage: { ...(isObject(event.usage) && event.usage), ...billed } }),
});

/**
 * Returns true when an event states usage to the client. The end of a session always does, even when the upstream's event does
 * not.
 */
const reportsUsage = ({ type, usage }: Json): boolean =>
  isObject(usage) || type === 'session.usage.updated' || type === 'session.closed';

/** Returns the billed usage as the client sees it: the seconds so far, and their cost. */
const usageOf = ({ costRaw, seconds }: BilledSeconds): Json => ({
  seconds,
  cost_raw: String(costRaw),
});
