import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';

const MOST_PARTS = 12;

/** Returns the results of tools as sentences: the members of an object one after the other, any other result unchanged. */
export function sayResults(results: readonly string[], echo: (text: string) => string): string {
  const phrased = results.map((result) => spoken(result.slice(0, ENGINE_LIMITS.guide.resultChars)));
  const said = phrased.filter((text) => text.trim() !== '');
  if (said.length === 0) return 'The tool answered nothing.';
  return said.map((text) => `The tool answered: ${echo(text)}`).join(' ');
}

function spoken(result: string): string {
  const value = tryParseJson(result.trim());
  return value === undefined ? result.trim() : phrase(value, 0);
}

function phrase(value: unknown, depth: number): string {
  if (Array.isArray(value)) return joined(value.map((one) => phrase(one, depth + 1)));
  if (!isObject(value)) return value === null ? 'nothing' : String(value);
  if (depth > 2) return JSON.stringify(value);
  return joined(
    Object.entries(value).map(([name, one]) => `${spaced(name)} is ${phrase(one, depth + 1)}`),
  );
}

const joined = (parts: readonly string[]) =>
  parts.length === 0 ? 'nothing' : parts.slice(0, MOST_PARTS).join(', ');

const spaced = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
