import { LiveUpstream } from '../../../models/providers/realtime/upstream-socket.ts';
import { openWebSocket, type WebSocketDeps } from '../../../platform/egress/open-web-socket.ts';
import type { MessageQueue } from '../../../platform/messages/message-queue.ts';
import { VOICE_LIMITS } from '../../../voice/limits.ts';
import { EventAllowance } from '../../../voice/live/event-allowance.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type RelayMessage, readRelayMessage } from './relay-message.ts';

export type RelayLinkDeps = WebSocketDeps & {
  readonly line: MessageQueue;
  /** Returns the headers with which the application can continue the trace of the call. */
  readonly traceHeaders?: (() => Readonly<Record<string, string>>) | undefined;
};

export type RelayLinkEvents = {
  message(message: RelayMessage): void;
  /** Runs when the application has closed the session normally. */
  ended(): void;
  /** Called at most once, when the connection is lost for good. */
  failed(message: string): void;
  /** Returns true while an answer is in progress, which a new connection could not continue. */
  isAnswering(): boolean;
};

const { messageBurst: burst, messagesPerSecond: perSecond } = PHONE_LIMITS.relay;

/** Close codes of a normal end. A close frame without a code reads as 1005. */
const DONE: ReadonlySet<number> = new Set([1000, 1005]);

/**
 * Connection of one call to its ConversationRelay application. When it breaks between two answers, it reconnects with the same
 * setup message, and messages wait meanwhile.
 */
export class RelayLink {
  readonly #deps: RelayLinkDeps;
  readonly #agentId: number;
  readonly #url: string;
  readonly #setup: string;
  readonly #events: RelayLinkEvents;
  readonly #closing = new AbortController();
  readonly #allowance: EventAllowance;
  readonly #outbox: string[] = [];
  #socket: LiveUpstream | undefined;
  #reconnects = 0;
  #malformed = 0;

  constructor(
    deps: RelayLinkDeps,
    {
      agentId,
      setup,
      url,
    }: { readonly agentId: number; readonly url: string; readonly setup: object },
    events: RelayLinkEvents,
  ) {
    this.#deps = deps;
    this.#agentId = agentId;
    this.#url = url;
    this.#setup = JSON.stringify(setup);
    this.#events = events;
    this.#allowance = new EventAllowance(deps.clock.monotonicMs(), { burst, perSecond });
    void this.#connect();
  }

  /**
   * Sends a message, or queues it until there is a connection. Beyond `PHONE_LIMITS.relay.outbox` queued messages it is dropped.
   */
  send(message: object): void {
    if (this.#isClosed) return;
    const text = JSON.stringify(message);
    if (this.#socket !== undefined) this.#write(this.#socket, text);
    else if (this.#outbox.length < PHONE_LIMITS.relay.outbox) this.#outbox.push(text);
  }

  /** Closes the connection. No callback runs afterwards. */
  close(): void {
    this.#closing.abort();
    this.#socket?.close();
    this.#socket = undefined;
    this.#outbox.length = 0;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #connect(): Promise<void> {
    const ws = await openWebSocket(this.#deps, this.#url, {
      connectMs: PHONE_LIMITS.relay.connectMs,
      maxMessageBytes: PHONE_LIMITS.relay.messageBytes,
      signal: this.#closing.signal,
      headers: this.#deps.traceHeaders?.(),
    }).catch(() => undefined);
    if (this.#isClosed || ws === undefined) {
      ws?.terminate();
      this.#fail('The relay application could not be connected to.');
      return;
    }
    const socket = new LiveUpstream(ws, { ...this.#deps, agentId: this.#agentId });
    this.#socket = socket;
    this.#write(socket, this.#setup);
    for (const text of this.#outbox.splice(0)) this.#write(socket, text);
    socket.listen({
      frame: (bytes, isBinary) => this.#hear(bytes, isBinary),
      closed: (code) => this.#closed(code),
    });
  }

  #write(socket: LiveUpstream, text: string): void {
    socket.send(Buffer.from(text), false);
    if (socket.unsentBytes > VOICE_LIMITS.relay.untakenBytes) {
      this.#fail('The relay application does not read what it is sent.');
    }
  }

  #hear(bytes: Buffer, isBinary: boolean): void {
    if (this.#isClosed) return;
    if (!this.#allowance.take(this.#deps.clock.monotonicMs())) {
      this.#fail('The relay application sends too many messages.');
      return;
    }
    const message = isBinary ? undefined : readRelayMessage(bytes);
    if (message !== undefined) this.#events.message(message);
    else this.#refuse(bytes);
  }

  #refuse(bytes: Buffer): void {
    const shown = bytes.toString('utf8').slice(0, PHONE_LIMITS.relay.shownChars);
    this.send({ type: 'error', description: `Invalid message received: ${shown}` });
    if (++this.#malformed >= PHONE_LIMITS.relay.malformed) {
      this.#fail('The relay application sends messages that make no sense.');
    }
  }

  #closed(code: number): void {
    this.#socket = undefined;
    if (this.#isClosed) return;
    if (DONE.has(code)) {
      this.close();
      this.#events.ended();
    } else if (this.#events.isAnswering() || this.#reconnects >= PHONE_LIMITS.relay.reconnects) {
      this.#fail('The connection to the relay application broke.');
    } else {
      this.#reconnects++;
      void this.#connect();
    }
  }

  #fail(message: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#events.failed(message);
  }
}
