/** An element of TwiML. */
export type Verb = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly Verb[];
};

type OpenVerb = {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: OpenVerb[];
};

const SIGNS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescaped = (text: string): string =>
  text.replace(/&(\w+);/g, (whole, name: string) => SIGNS[name] ?? whole);

const TOKEN = /<\?[^>]*\?>|<\/(\w+)\s*>|<(\w+)((?:\s+[\w:]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/** The verbs of a response. Throws where the XML is not well-formed, as Twilio ends the call then. */
export function readTwiml(xml: string): readonly Verb[] {
  const root: OpenVerb = { name: '', attributes: {}, text: '', children: [] };
  const open: OpenVerb[] = [root];
  let end = 0;
  for (const token of xml.trim().matchAll(TOKEN)) {
    end = token.index + token[0].length;
    const [, closed, name, attributes = '', isEmpty, text] = token;
    const top = open.at(-1) as OpenVerb;
    if (text !== undefined) top.text += unescaped(text);
    if (closed !== undefined && open.pop()?.name !== closed)
      throw new Error('TwiML: wrong end tag');
    if (name === undefined) continue;
    const verb: OpenVerb = { name, attributes: readAttributes(attributes), text: '', children: [] };
    top.children.push(verb);
    if (isEmpty === '') open.push(verb);
  }
  const [response] = root.children;
  const isWhole = open.length === 1 && end === xml.trim().length;
  if (!isWhole || response?.name !== 'Response') throw new Error('TwiML: no well-formed response');
  return response.children;
}

function readAttributes(text: string): Record<string, string> {
  const found = [...text.matchAll(/([\w:]+)="([^"]*)"/g)];
  return Object.fromEntries(found.map(([, name, value]) => [name, unescaped(value as string)]));
}
