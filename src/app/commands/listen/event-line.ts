import { EVENT_KINDS } from '../../../webhooks/catalogue.ts';
import type { FeedEvent } from './read-feed.ts';

const SEQUENCE_WIDTH = 7;
const NAME_WIDTH = Math.max(...EVENT_KINDS.map(({ name }) => name.length));
const VALUE_CHARS = 80;

/** Formats an event as one line: its time, sequence, name, agent's wallet, and the ids of its subjects. */
export function eventLine(event: FeedEvent): string {
  const { agentWalletAddress: wallet } = event;
  return [
    `${event.firedAt.slice(0, 19).replace('T', ' ')}Z`,
    String(event.sequence).padStart(SEQUENCE_WIDTH),
    plain(event.event).padEnd(NAME_WIDTH),
    ...(typeof wallet === 'string' ? [plain(wallet)] : []),
    ...subjectsOf(event),
  ]
    .join('  ')
    .trimEnd();
}

const subjectsOf = (event: FeedEvent): string[] =>
  Object.entries(event).flatMap(([member, value]) =>
    /(Id|^provider|^vendor)$/.test(member) && ['string', 'number'].includes(typeof value)
      ? [`${plain(member)}=${plain(String(value))}`]
      : [],
  );

/** Removes control characters, which would move the terminal's cursor, and cuts a long value. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, VALUE_CHARS);
