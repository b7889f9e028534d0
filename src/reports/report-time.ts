import { z } from 'zod';
import { reportErrors } from './errors.ts';

const Day = z.iso.date();
const Instant = z.iso.datetime({ offset: true });

/** Reads a day in UTC, or a time with its zone. Throws the refusal of any other text, and of days that do not exist. */
export function readTime(name: string, text: string): Date {
  if (Day.safeParse(text).success) return new Date(`${text}T00:00:00Z`);
  if (Instant.safeParse(text).success) return new Date(text);
  throw reportErrors.invalidTime(name, text.slice(0, 64));
}
