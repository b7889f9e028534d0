import type { Json } from '../../kernel/json.ts';

/** What one part of a message has: a part may have several at once, and which of them counts is for its upstream to say. */
export type ChatPart = {
  readonly text: string | undefined;
  /** Undefined where it has none, as for the others. */
  readonly image: unknown;
  readonly audio: unknown;
  readonly file: unknown;
  /** Only the upstream knows this kind of part. */
  readonly isUnknown: boolean;
};

const TEXTS: ReadonlySet<unknown> = new Set([undefined, 'text', 'input_text', 'output_text']);

export function readPart({ file, image_url, input_audio, text, type }: Json): ChatPart {
  const part = {
    text: typeof text === 'string' ? text : undefined,
    image: image_url ?? undefined,
    audio: input_audio ?? undefined,
    file: file ?? undefined,
  };
  const isText = part.text !== undefined && TEXTS.has(type);
  return { ...part, isUnknown: !isText && opaqueMembers(part) === 0 };
}

/** How many members of a part are no text. */
export const opaqueMembers = ({ audio, file, image }: Omit<ChatPart, 'isUnknown'>): number =>
  Number(image !== undefined) + Number(audio !== undefined) + Number(file !== undefined);
