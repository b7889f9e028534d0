import { pino } from 'pino';
import type { Log } from '../../src/kernel/log.ts';

export type LogLine = { readonly level: number; readonly msg: string } & Record<string, unknown>;

/** A log whose lines a test can read. */
export function logLines(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** Of pino's levels. */
export const ERROR = 50;
