import type { SocketConnection, SocketHandler } from '../http/route/socket-route.ts';
import type { Clock } from '../kernel/clock.ts';
import { EventAllowance } from '../voice/live/event-allowance.ts';
import { TOO_MANY_EVENTS } from '../voice/live/voice-endings.ts';

/** Reader of a socket's messages. */
interface MessageReader {
  opened(connection: SocketConnection): void;
  message(data: string | Uint8Array): void;
  cutOff(code: number, reason: string): void;
  drained(): void;
  drain(): void;
  closed(): void;
}

/** Passes a client's messages on to `reader` within its allowance, and cuts off a client that exceeds it. */
export function limitedMessages(reader: MessageReader, clock: Clock): SocketHandler {
  const allowance = new EventAllowance(clock.monotonicMs());
  return {
    opened: (connection) => reader.opened(connection),
    message(data) {
      if (allowance.take(clock.monotonicMs())) reader.message(data);
      else reader.cutOff(TOO_MANY_EVENTS.code, TOO_MANY_EVENTS.reason);
    },
    drained: () => reader.drained(),
    draining: () => reader.drain(),
    closed: () => reader.closed(),
  };
}
