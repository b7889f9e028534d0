import { destination, type Logger, pino } from 'pino';

/** Structured log lines. Speech, transcripts, digits, keys and bodies never appear in one. */
export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Buffers 4 KiB and writes asynchronously: a slow reader of standard output must not hold the loop. */
export function createLog(level: (typeof LOG_LEVELS)[number]): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({
      dest: 1,
      sync: false,
      minLength: level === 'silent' ? 0 : 4_096,
      periodicFlush: 200,
    }),
  );
}

export const silentLog: Log = pino({ level: 'silent' });
