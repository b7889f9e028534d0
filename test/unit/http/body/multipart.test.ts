import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MultipartRefused, readMultipart } from '../../../../src/http/body/multipart.ts';

const BOUNDS = { fileBytes: 1_000, fieldsBytes: 100, parts: 5, partHeadBytes: 300 };
const TYPE = 'multipart/form-data; boundary=edge';

async function* cut(body: Uint8Array, at: readonly number[] = []): AsyncGenerator<Uint8Array> {
  const places = [...new Set(at.map((n) => n % (body.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, body.length]) {
    yield body.subarray(from, to);
    from = to;
  }
}

const part = (head: string, content: string | Uint8Array, headEncoding?: BufferEncoding) =>
  Buffer.concat([
    Buffer.from(`--edge\r\nContent-Disposition: form-data; ${head}\r\n\r\n`, headEncoding),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from('--edge--\r\n')]);
const read = (body: Buffer, type: string | undefined = TYPE, at?: readonly number[]) =>
  readMultipart(type, cut(body, at), BOUNDS);
const refusal = async (body: Buffer, type?: string) => {
  const thrown = await read(body, type).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(MultipartRefused);
  return thrown as MultipartRefused;
};

/** Bytes with many beginnings of a boundary among them. */
const tricky = fc
  .array(fc.constantFrom('\r', '\n', '\r\n', '-', '--', '--edg', '\r\n--edg', 'e', '\0', 'ÿ'), {
    maxLength: 60,
  })
  .map((pieces) => Buffer.from(pieces.join(''), 'latin1'))
  .filter((bytes) => !Buffer.concat([Buffer.from('\r\n'), bytes]).includes('\r\n--edge'));

describe('a form that is read while it arrives', () => {
  it('a streamed form keeps a file name that is given in the extended syntax alone', async () => {
    const { file, fields } = await read(
      form(part(`name="file"; filename*=UTF-8''na%C3%AFve.wav`, 'sound')),
    );
    expect([file?.fileName, file?.bytes.toString(), fields]).toEqual(['naïve.wav', 'sound', []]);
    const both = form(part(`name="file"; filename*=UTF-8''a.wav; filename="b.wav"`, 'sound'));
    expect((await read(both)).file?.fileName).toBe('b.wav');
  });

  it('a streamed form is read back as it was written, wherever it is cut', () =>
    fc.assert(
      fc.asyncProperty(
        tricky,
        fc.string({ maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (bytes, text, at) => {
          const body = form(
            part('name="before"', 'x'),
            part('name="file"; filename="a.wav"\r\nContent-Type: audio/wav', bytes),
            part('name="after"', text.replaceAll('\r\n--edge', '')),
          );
          const { fields, file } = await read(body, TYPE, at);
          expect(file?.bytes.equals(bytes)).toBe(true);
          expect(file).toMatchObject({
            field: 'file',
            fileName: 'a.wav',
            contentType: 'audio/wav',
          });
          expect(fields).toEqual([
            ['before', 'x'],
            ['after', text.replaceAll('\r\n--edge', '')],
          ]);
        },
      ),
      { numRuns: 300 },
    ));

  it('a streamed form is read back the same one byte at a time', async () => {
    const body = form(part('name="a"', '1'), part('name="file"; filename="f"', 'xyz'));
    const each = Array.from({ length: body.length }, (_, i) => i);
    expect(await read(body, TYPE, each)).toEqual(await read(body));
  });

  it('a streamed form can be read as fetch writes it', async () => {
    const data = new FormData();
    data.append('model', 'a/b — c');
    data.append('file', new File(['sound'], 'é.wav', { type: 'audio/wav' }));
    const sent = new Response(data);
    const body = Buffer.from(await sent.arrayBuffer());
    const { fields, file } = await read(body, sent.headers.get('content-type') ?? '');
    expect(fields).toEqual([['model', 'a/b — c']]);
    expect(file).toMatchObject({ fileName: 'é.wav', contentType: 'audio/wav' });
  });

  it('a streamed form may have text before and behind it, space behind its boundaries, and quoted names', async () => {
    const body = Buffer.concat([
      Buffer.from(
        'hello\r\n--edge \t\r\ncontent-disposition:form-data;name="a\\"b" ; x=y\r\n\r\n\r\n',
      ),
      form(part('filename="C:\\dir\\f"; NAME=plain', '')),
      Buffer.from('goodbye'),
    ]);
    const { fields, file } = await read(
      body,
      'Multipart/Form-Data; charset=utf-8; boundary="edge"',
    );
    expect(fields).toEqual([['a"b', '']]);
    expect(file).toMatchObject({ field: 'plain', fileName: 'C:\\dir\\f' });
  });
});

describe('a form that is refused', () => {
  it('a form without its type or its boundary is refused', async () => {
    for (const type of [
      '',
      'application/json',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'x'.repeat(71)}`,
    ]) {
      await refusal(form(part('name="a"', '1')), type);
    }
  });

  it('a form that ends too soon or cannot be read is refused', async () => {
    const whole = form(part('name="a"', '1'));
    for (let length = 0; length < whole.length - 4; length += 3) {
      await refusal(whole.subarray(0, length));
    }
    await refusal(Buffer.from('--edgeless\r\n'));
    await refusal(Buffer.from(`--edge${' '.repeat(200)}`));
    await refusal(form(Buffer.from('--edge\r\n\r\nno head\r\n')));
    await refusal(form(part('filename="f"', 'no name')));
    await refusal(form(part('name="a"', Buffer.from([0xff, 0xfe]))));
  });

  it('a form over the limits of file, fields, parts or part headers is refused', async () => {
    const big = await refusal(form(part('name="file"; filename="f"', 'x'.repeat(1_001))));
    expect(big.why).toBe('file_too_large');
    const others = [
      form(part('name="a"', 'x'.repeat(60)), part('name="b"', 'x'.repeat(60))),
      form(...Array.from({ length: 6 }, () => part('name="a"', ''))),
      form(part(`name="${'x'.repeat(400)}"`, '')),
      Buffer.from(`--edge\r\n${'x'.repeat(400)}`),
      form(part('name="f"; filename="1"', ''), part('name="g"; filename="2"', '')),
    ];
    for (const body of others) expect((await refusal(body)).why).toBe('malformed');
  });

  it.each<[string, Buffer]>([
    ['a part has no name', form(Buffer.from('--edge\r\nx: y\r\n\r\n1\r\n'))],
    ['a part has no name', form(part('nom="model"', '1'))],
    ['the headers of a part are too long', form(part(`name="${'x'.repeat(400)}"`, '1'))],
    ['the headers of a part are not UTF-8', form(part('name="a"; filename="\xff"', '1', 'latin1'))],
    ['the field "a" is not UTF-8', form(part('name="a"', Buffer.from([0xff])))],
    ['a boundary is not followed by a line', Buffer.from('--edgeless\r\n\r\n1\r\n--edge--\r\n')],
  ])('the refusal of a form whose part could be misread says that %s', async (what, body) => {
    expect((await refusal(body)).message).toBe(`The form cannot be read: ${what}.`);
  });

  it('a refused form is read no further than its first fault', async () => {
    let pieces = 0;
    async function* endless() {
      for (;;) {
        pieces++;
        yield Buffer.from('--edge\r\nx: y\r\n\r\n');
      }
    }
    await expect(readMultipart(TYPE, endless(), BOUNDS)).rejects.toBeInstanceOf(MultipartRefused);
    expect(pieces).toBeLessThan(5);
  });
});
