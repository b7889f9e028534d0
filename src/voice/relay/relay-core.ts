import { createActor } from 'xstate';
import {
  type RealtimeRelayEvent,
  type RelayEffects,
  realtimeRelayMachine,
} from '../../../machines/realtime-relay.ts';
import type { Ending } from '../../../machines/transcription-stream.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { UpstreamSocket } from '../../models/providers/realtime/realtime-rail.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { Downlink, type RelayClient, type SocketFrame } from '../live/downlink.ts';
import { EventAllowance } from '../live/event-allowance.ts';
import { SessionActor } from '../live/session-actor.ts';
import { SessionTally } from '../live/session-tally.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import { BROKEN, CLIENT_SLOW, TOO_MANY_EVENTS, UPSTREAM_SLOW } from '../live/voice-endings.ts';
import { VoiceLife } from '../live/voice-life.ts';
import type { RecordingStage } from '../recording/stage.ts';

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

/** Returns the dependencies and the input of a relayed session, with a stage in front of them. */
export const stageRelay = <T extends RelayInput>(
  stage: RecordingStage,
  deps: RelayDeps,
  input: T,
): { readonly deps: RelayDeps; readonly input: T } => ({
  deps: { ...deps, clock: stage.clock, random: stage.random },
  input: {
    ...input,
    sessionHold: stage.between('sessionHold', input.sessionHold),
    upstream: stage.between('upstream', input.upstream),
  },
});

type CoreOptions<F extends SocketFrame> = {
  readonly effects: Omit<RelayEffects, 'quietInMs'>;
  /** Handles the next upstream frame. */
  readonly take: (frame: F) => void;
  /** Called when waiting frames were handled, maybe all of them. */
  readonly wentOn: () => void;
};

/**
 * The parts of a relayed session that do not depend on its protocol: the order of frames, the client's allowance, the session's
 * state machine and its settlement.
 */
export class RelayCore<F extends SocketFrame = SocketFrame> {
  readonly life: VoiceLife;
  readonly tally: SessionTally;
  readonly downlink: Downlink<F>;
  readonly #upstream: UpstreamSocket;
  readonly #allowance: EventAllowance;
  readonly #actor: SessionActor<RealtimeRelayEvent>;
  #isHungUp = false;

  constructor(deps: RelayDeps, input: RelayInput, { effects, take, wentOn }: CoreOptions<F>) {
    const { clock } = deps;
    const { upstream } = input;
    this.#upstream = upstream;
    this.tally = new SessionTally({ ...deps, kind: 'relay' });
    this.life = new VoiceLife(deps, { ...input, tally: this.tally });
    const allowance = new EventAllowance(clock.monotonicMs());
    this.#allowance = allowance;
    this.downlink = new Downlink({
      clock,
      take,
      upstream,
      wentOn,
      stalled: () => this.fail(CLIENT_SLOW),
    });
    const quietAtMs = () => allowance.lastAtMs + VOICE_LIMITS.realtime.idleSeconds * 1_000;
    const quietInMs = () => Math.max(0, quietAtMs() - clock.monotonicMs());
    const actor = createActor(realtimeRelayMachine, {
      clock,
      input: { effects: { ...effects, quietInMs } },
    });
    this.#actor = new SessionActor(actor, { effects, life: this.life });
  }

  /** Starts the state machine, whose effects may use all parts of the session. */
  start(): void {
    this.#actor.start();
  }

  /** True when the client gets nothing more. */
  get isHungUp(): boolean {
    return this.#isHungUp;
  }

  /** Starts to relay upstream frames to `client`, after `arrived` has converted them. */
  attach(
    client: RelayClient,
    upstream: {
      readonly arrived: (bytes: Buffer, isBinary: boolean) => F;
      readonly closed: (code: number, reason: string) => void;
    },
  ): void {
    const { arrived, closed } = upstream;
    this.downlink.attach(client);
    this.#upstream.listen({
      frame: (bytes, isBinary) =>
        this.guard(() => {
          if (!this.downlink.push(arrived(bytes, isBinary))) this.fail(BROKEN);
        }),
      closed,
    });
  }

  /** Returns true when an event of the client is to be handled. An event beyond the allowance ends the session. */
  admits(nowMs: number): boolean {
    if (this.#isHungUp) return false;
    if (this.#allowance.take(nowMs)) return true;
    this.fail(TOO_MANY_EVENTS);
    return false;
  }

  /**
   * Ends the session when the upstream reads the client's frames too slowly: more than `VOICE_LIMITS.relay.untakenBytes` are unsent.
   */
  checkUpstream(): void {
    if (this.#upstream.unsentBytes > VOICE_LIMITS.relay.untakenBytes) this.fail(UPSTREAM_SLOW);
  }

  /** Resumes forwarding, because the client's send buffer has room again. */
  drained(): void {
    this.guard(() => this.downlink.caughtUp());
  }

  /** Stops forwarding to the client, after `tell` has sent the client the reason. Does nothing on a second call. */
  hangUp(tell: () => void): void {
    if (this.#isHungUp) return;
    this.#isHungUp = true;
    tell();
    this.guard(() => this.downlink.abandon());
  }

  /** Runs work on upstream frames, whose errors no caller would catch. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.life.logError(error, 'a frame could not be relayed');
      this.fail(BROKEN);
    }
  }

  fail(ending: Ending): void {
    this.send({ type: 'session.failed', ending });
  }

  send(event: RealtimeRelayEvent): void {
    this.#actor.send(event);
  }
}
