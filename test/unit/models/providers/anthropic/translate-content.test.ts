import { describe, expect, it } from 'vitest';
import {
  translateContent,
  translateText,
} from '../../../../../src/models/providers/anthropic/translate-content.ts';

const image = (url: unknown) => ({ type: 'image_url', image_url: { url, detail: 'low' } });
const sourceOf = (url: string) => translateContent([image(url)], 'messages[0]')[0];

describe('the parts of a message', () => {
  it('chat content becomes Anthropic texts and images in their order', () => {
    const parts = [{ type: 'text', text: 'See' }, image('https://x.example/a.png')];
    expect(translateContent(parts, 'm')).toEqual([
      { type: 'text', text: 'See' },
      { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
    ]);
    expect(translateContent('Hi', 'm')).toEqual([{ type: 'text', text: 'Hi' }]);
    for (const nothing of [null, undefined, '', []])
      expect(translateContent(nothing, 'm')).toEqual([]);
  });

  it('chat content keeps the caller’s cache_control in Anthropic blocks', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const marked = { ...image('https://x.example/a.png'), cache_control };
    const parts = [{ type: 'text', text: 'See', cache_control }, marked];
    expect(translateContent(parts, 'm')).toEqual([
      { type: 'text', text: 'See', cache_control },
      { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' }, cache_control },
    ]);
    const words = [{ type: 'text', text: 'Be brief.', cache_control }];
    expect(translateText(words, 'm')).toEqual(words);
    const unmarked = [{ type: 'text', text: 'See', cache_control: null }];
    expect(translateText(unmarked, 'm')).toEqual([{ type: 'text', text: 'See' }]);
    const odd = [{ type: 'text', text: 'See', cache_control: 'ephemeral' }];
    expect(() => translateText(odd, 'm')).toThrow(/^m\.content\[0\]\.cache_control must be/);
  });

  it('an inline image gets the media type of its first bytes, whatever its data URL states', () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAA';
    expect(sourceOf(`data:image/jpeg;base64,${png}`)).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png },
    });
    const webp = 'UklGRiQRAABXRUJQVlA4TBcR';
    expect(sourceOf(`data:application/octet-stream;base64,${webp}`)).toMatchObject({
      source: { media_type: 'image/webp' },
    });
  });

  it('an inline image with unknown bytes keeps its data and the media type of its data URL', () => {
    const data = 'AAAAAAAAAAAAAAAA';
    const base64 = (media_type: string) => ({ type: 'base64', media_type, data });
    const cases = [
      ['image/png', 'image/png'],
      ['IMAGE/JPEG', 'image/jpeg'],
      ['image/jpg', 'image/jpeg'],
      ['image/webp', 'image/webp'],
    ] as const;
    for (const [sent, kind] of cases) {
      expect(sourceOf(`data:${sent};base64,${data}`)).toEqual({
        type: 'image',
        source: base64(kind),
      });
    }
    const large = 'A'.repeat(1_000_000);
    expect(sourceOf(`data:image/gif;base64,${large}`)).toMatchObject({ source: { data: large } });
  });

  it('chat content that Anthropic cannot take is refused with its place', () => {
    const urls = [
      'file:///etc/passwd',
      'data:image/png,abc',
      'data:image/svg+xml;base64,PHN2Zz4=',
      'data:text/plain;base64,aGk=',
      `data:image/png${';x'.repeat(40)};base64,AAAA`,
      '',
      7,
    ];
    for (const url of urls) {
      expect(() => translateContent([image(url)], 'messages[3]')).toThrow(
        /^messages\[3\]\.content\[0\]\.image_url\.url must/,
      );
    }
    const others = [{ type: 'input_audio' }, { type: 'refusal', refusal: 'x' }, {}];
    for (const part of others) {
      expect(() => translateContent([part], 'm')).toThrow(/^m\.content\[0\]\.type must/);
    }
    expect(() => translateContent([{ type: 'text' }], 'm')).toThrow(/^m\.content\[0\]\.text must/);
    expect(() => translateContent([7], 'm')).toThrow(/^m\.content\[0\] must/);
    expect(() => translateContent({}, 'm')).toThrow(/^m\.content must/);
  });

  it('chat content of a text-only role is refused when it is not text', () => {
    const parts = [
      { type: 'text', text: 'No' },
      { type: 'refusal', refusal: 'Never' },
    ];
    expect(translateText(parts, 'm').map(({ text }) => text)).toEqual(['No', 'Never']);
    expect(() => translateText([image('https://x.example')], 'm')).toThrow(/type must be "text"/);
  });
});
