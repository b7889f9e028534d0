import { destination, type Logger, pino } from 'pino';

/** Structured log lines. No line contains speech, transcripts, digits, keys or bodies. */
export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Creates the log. It buffers 4 KiB and writes asynchronously, since a slow reader of standard output must not block the event
 * loop. With `readable`, each JSON line becomes a line for a terminal and is written at once.
 */
export function createLog(
  level: (typeof LOG_LEVELS)[number],
  readable?: (json: string) => string,
): Log {
  const out = destination({
    dest: 1,
    sync: false,
    minLength: level === 'silent' || readable ? 0 : 4_096,
    periodicFlush: readable ? 0 : 200,
  });
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (readable === undefined) return pino(options, out);
  const stream = {
    write: (json: string) => out.write(readable(json)),
    flush: (done: () => void) => out.flush(done),
  };
  return pino(options, stream);
}

export const silentLog: Log = pino({ level: 'silent' });
