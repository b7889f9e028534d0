import type { Ending } from '../../../../machines/transcription-stream.ts';
import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { Random } from '../../../kernel/random.ts';
import { EventAllowance } from '../../live/event-allowance.ts';
import {
  VoiceSession,
  type VoiceSessionDeps,
  type VoiceSessionInput,
} from '../../session/voice-session.ts';
import type { ClientSocket } from '../openai-realtime/event-sender.ts';
import { Acknowledgement, HANDED_OVER } from './acknowledgement.ts';
import { LiveClient } from './live-client.ts';
import { LiveCommands } from './live-commands.ts';
import { closeReason, EXPIRED, LiveSender } from './live-sender.ts';
import type { LiveItem, LiveStart } from './read-start.ts';
import { renderLiveSession } from './render-session.ts';

/** A voice session in the protocol of `/v1/live/sessions`, as its socket drives it. */
export class LiveSession {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #start: LiveStart;
  readonly #session: VoiceSession;
  readonly #sender: LiveSender;
  readonly #client: LiveClient;
  readonly #commands: LiveCommands;
  readonly #acknowledgement: Acknowledgement;
  readonly #render: () => Readonly<Record<string, unknown>>;
  readonly #expiry: TimerHandle;

  constructor(deps: VoiceSessionDeps, input: VoiceSessionInput, start: LiveStart) {
    const { clock, random } = deps;
    const allowance = new EventAllowance(clock.monotonicMs());
    this.#clock = clock;
    this.#random = random;
    this.#start = start;
    const sender = new LiveSender(random);
    this.#sender = sender;
    this.#client = new LiveClient({
      ...{ allowance, clock, random, sender, target: start.delegation.type },
      isEnding: () => this.#session.isEnding,
      events: {
        handedOver: (callId) => this.#handedOver(callId),
        answerDone: (isSilent) => this.#commands.answerDone(isSilent),
        ended: (ending) => this.#ended(ending),
      },
    });
    const session = new VoiceSession(deps, input, this.#client);
    this.#session = session;
    const { sessionId: id } = input.owner;
    const expiresAt = Math.floor(clock.now() / 1_000) + LIMITS.liveSeconds;
    this.#render = () =>
      renderLiveSession(session.config, {
        ...{ ...start, id, expiresAt, delegation: this.#commands.delegation },
      });
    const { delegation, instructions } = start;
    const { isSpeaking, sinceMs } = this.#client;
    this.#acknowledgement = new Acknowledgement({ clock, session, isSpeaking });
    this.#commands = new LiveCommands({
      ...{ allowance, delegation, instructions, random, sender, session, sinceMs },
      acknowledgement: this.#acknowledgement,
      render: () => this.#render(),
    });
    for (const item of start.items) this.#addItem(item);
    this.#expiry = clock.setTimeout(() => session.fail(EXPIRED), LIMITS.liveSeconds * 1_000);
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#session.settled;
  }

  attach(socket: ClientSocket): void {
    this.#sender.attach(socket);
    this.#sender.answer('session.started', this.#start.eventId, { session: this.#render() });
  }

  /** Takes one event as bytes, since the protocol is text only. The caller may reuse them after this returns. */
  frame(bytes: Uint8Array): void {
    if (!this.#session.isOver) this.#commands.handle(bytes, this.#clock.monotonicMs());
  }

  /** The client's send buffer has room again. */
  drained(): void {
    this.#sender.drained();
  }

  drain(): void {
    this.#session.drain();
  }

  socketClosed(): void {
    this.#session.clientGone();
  }

  /** Ends now, without waiting for payments in progress. */
  abandon(): void {
    this.#session.abandon();
  }

  #addItem({ content: [{ text }], role }: LiveItem): void {
    this.#session.conversation.add({
      id: newId(this.#random, 'item_'),
      type: 'message',
      role: role === 'developer' ? 'system' : role,
      status: 'completed',
      content: [{ type: 'text', text }],
    });
  }

  /** A call without an output would be refused by most chat models. */
  #handedOver(callId: string): void {
    this.#session.conversation.add({
      id: newId(this.#random, 'item_'),
      type: 'function_call_output',
      status: 'completed',
      callId,
      output: HANDED_OVER,
    });
  }

  #ended(ending: Ending): void {
    this.#clock.clearTimeout(this.#expiry);
    this.#acknowledgement.clear();
    const { code, reason } = ending;
    this.#sender.fault(ending);
    this.#sender.send('session.closed', {
      reason: closeReason(ending),
      session: this.#render(),
      usage: { seconds: this.#client.sinceMs() / 1_000 },
    });
    this.#sender.end({ code, reason });
  }
}
