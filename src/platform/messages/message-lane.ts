import { MESSAGE_LIMITS } from './limits.ts';
import { MessageBudget } from './message-budget.ts';

/** A socket whose messages may have to wait for a later turn of the event loop. */
export interface MessageSource {
  /** Owner of the socket: an agent's id, or an object when no agent is known. Messages of different owners take turns. */
  readonly owner: number | object;
  /** Handles a message that has waited. It must not throw. */
  waited(bytes: Uint8Array, isBinary: boolean): void;
  /** Stops reading from the peer. Bytes that were read before still come. */
  holdBack(): void;
  /** Undoes `holdBack`. */
  letGo(): void;
}

type Waiting = {
  readonly source: MessageSource;
  readonly bytes: Uint8Array;
  readonly isBinary: boolean;
};

const most = MESSAGE_LIMITS.waiting.owner;

/** Emptied slots at the front of a lane's array after which the array is cut. */
const SLACK = 1_024;

/** The sockets of one owner, and their waiting messages in the order of arrival. */
export class MessageLane {
  readonly #sources = new Set<MessageSource>();
  #messages: (Waiting | undefined)[] = [];
  #head = 0;
  #isHeldBack = false;
  #links: MessageBudget | undefined;
  /** Processor time that the lane has used beyond its share. */
  owedMs = 0;
  waitingBytes = 0;

  get waiting(): number {
    return this.#messages.length - this.#head;
  }

  get isEmpty(): boolean {
    return this.#sources.size === 0 && this.waiting === 0;
  }

  /** Returns the budget that the owner's sockets at upstreams and applications share. Times are of the monotonic clock. */
  links(nowMs: number): MessageBudget {
    this.#links ??= new MessageBudget(nowMs, MESSAGE_LIMITS.agentLinks);
    return this.#links;
  }

  add(source: MessageSource): void {
    this.#sources.add(source);
    if (this.#isHeldBack) source.holdBack();
  }

  remove(source: MessageSource): void {
    this.#sources.delete(source);
  }

  push(message: Waiting): void {
    this.#messages.push(message);
    this.waitingBytes += message.bytes.byteLength;
    if (this.waiting > most.messages || this.waitingBytes > most.bytes) this.holdBack();
  }

  shift(): Waiting | undefined {
    const message = this.#messages[this.#head];
    if (message === undefined) return undefined;
    this.#messages[this.#head++] = undefined;
    this.waitingBytes -= message.bytes.byteLength;
    const isSlack = this.#head > SLACK && this.#head * 2 > this.#messages.length;
    if (isSlack || this.#head === this.#messages.length) this.#cut();
    return message;
  }

  /** Stops reading from all sockets of the lane. */
  holdBack(): void {
    if (this.#isHeldBack) return;
    this.#isHeldBack = true;
    for (const source of this.#sources) source.holdBack();
  }

  /** Resumes reading from the sockets once no more than half of the lane's bounds waits. */
  letGo(): void {
    if (!this.#isHeldBack || this.waiting > most.messages / 2) return;
    if (this.waitingBytes > most.bytes / 2) return;
    this.#isHeldBack = false;
    for (const source of this.#sources) source.letGo();
  }

  #cut(): void {
    this.#messages = this.#messages.slice(this.#head);
    this.#head = 0;
  }
}
