const LEVELS: Readonly<Record<number, { readonly name: string; readonly colour: number }>> = {
  10: { name: 'trace', colour: 2 },
  20: { name: 'debug', colour: 2 },
  40: { name: 'warning', colour: 33 },
  50: { name: 'error', colour: 31 },
  60: { name: 'fatal', colour: 31 },
};

/** Most characters of a value on a terminal line. The JSON log has the whole value. */
const VALUE_CHARS = 100;

/** Formats a line of the JSON log for people: time, level unless it is info, message, then `name=value`. */
export function readableLine(json: string, colours: boolean): string {
  const paint = (code: number, text: string) =>
    colours && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;
  const { time, level, msg, err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const known = LEVELS[Number(level)];
  const words = [
    paint(2, String(time).slice(11, 19)),
    known === undefined ? '' : paint(known.colour, known.name),
    String(msg ?? ''),
    paint(2, members(rest)),
  ];
  return `${words.filter((word) => word !== '').join('  ')}\n${paint(2, stackOf(err))}`;
}

function members(rest: Readonly<Record<string, unknown>>): string {
  return Object.entries(rest)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return `${name}=${text.length > VALUE_CHARS ? `${text.slice(0, VALUE_CHARS)}…` : text}`;
    })
    .join(' ');
}

/** Returns the stack of a logged error, or its message, indented under the line. */
function stackOf(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { stack, message } = err as { readonly stack?: unknown; readonly message?: unknown };
  return `${String(stack ?? message ?? '').replaceAll(/^/gm, '    ')}\n`;
}
