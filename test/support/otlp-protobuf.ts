/** Reads the spans of an OTLP export in protobuf: as much of opentelemetry/proto/trace/v1 as tests look at. */

export type AttributeValue = string | number | boolean | readonly unknown[];

export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: it is a root. */
  readonly parentId: string | undefined;
  readonly traceState: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly events: readonly string[];
  readonly isError: boolean;
  readonly service: AttributeValue | undefined;
};

type Field = { readonly number: number; readonly bytes: Buffer; readonly value: bigint };

/** The fields of a message, in their order. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('the message is cut off');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const none = Buffer.alloc(0);
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, bytes: none, value: varint() };
        break;
      case 1: {
        const bytes = message.subarray(at, at + 8);
        at += 8;
        yield { number, bytes, value: bytes.readBigUInt64LE() };
        break;
      }
      case 2: {
        const length = Number(varint());
        yield { number, bytes: message.subarray(at, at + length), value: 0n };
        at += length;
        break;
      }
      case 5: {
        const bytes = message.subarray(at, at + 4);
        at += 4;
        yield { number, bytes, value: BigInt(bytes.readUInt32LE()) };
        break;
      }
      default:
        throw new Error('an unknown wire type');
    }
  }
}

const all = (message: Buffer, number: number): Field[] =>
  [...fieldsOf(message)].filter((field) => field.number === number);
const one = (message: Buffer, number: number): Field | undefined => all(message, number)[0];
const text = (message: Buffer, number: number): string =>
  one(message, number)?.bytes.toString('utf8') ?? '';

function anyValue(message: Buffer): AttributeValue {
  for (const { bytes, number, value } of fieldsOf(message)) {
    if (number === 1) return bytes.toString('utf8');
    if (number === 2) return value === 1n;
    if (number === 3) return Number(BigInt.asIntN(64, value));
    if (number === 4) return bytes.readDoubleLE();
    if (number === 5) return all(bytes, 1).map((item) => anyValue(item.bytes));
  }
  return '';
}

const attributesOf = (message: Buffer, number: number) =>
  Object.fromEntries(
    all(message, number).map(({ bytes }) => [
      text(bytes, 1),
      anyValue(one(bytes, 2)?.bytes ?? Buffer.alloc(0)),
    ]),
  );

const KINDS = { 1: 'internal', 2: 'server', 3: 'client' } as const;

function spanOf(message: Buffer, service: AttributeValue | undefined): CollectedSpan {
  const hex = (number: number) => one(message, number)?.bytes.toString('hex') ?? '';
  const kind = Number(one(message, 6)?.value ?? 0n) as keyof typeof KINDS;
  const status = one(message, 15)?.bytes;
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4) === '' ? undefined : hex(4),
    traceState: text(message, 3),
    name: text(message, 5),
    kind: KINDS[kind] ?? 'other',
    startNs: one(message, 7)?.value ?? 0n,
    endNs: one(message, 8)?.value ?? 0n,
    attributes: attributesOf(message, 9),
    events: all(message, 11).map(({ bytes }) => text(bytes, 2)),
    isError: status !== undefined && one(status, 3)?.value === 2n,
    service,
  };
}

/** The spans of one export. */
export function decodeSpans(request: Buffer): CollectedSpan[] {
  return all(request, 1).flatMap(({ bytes: resourceSpans }) => {
    const resource = one(resourceSpans, 1)?.bytes ?? Buffer.alloc(0);
    const service = attributesOf(resource, 1)['service.name'];
    return all(resourceSpans, 2).flatMap(({ bytes: scopeSpans }) =>
      all(scopeSpans, 2).map(({ bytes }) => spanOf(bytes, service)),
    );
  });
}
