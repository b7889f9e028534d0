import { expect, test } from 'vitest';
import { LightSignal } from '../../../src/kernel/light-signal.ts';
import { abortSignalOf } from '../../../src/kernel/stop-signal.ts';

test('a LightSignal calls every listener once, with the reason that an AbortSignal would have', () => {
  const signal = new LightSignal();
  const heard: string[] = [];
  const withdrawn = () => heard.push('withdrawn');
  signal.addEventListener('abort', () => heard.push('first'));
  signal.addEventListener('abort', withdrawn);
  signal.addEventListener('abort', () => heard.push('second'));
  signal.removeEventListener('abort', withdrawn);
  signal.removeEventListener('abort', withdrawn);
  expect([signal.aborted, signal.reason]).toEqual([false, undefined]);

  signal.fire();
  signal.fire();

  expect(heard).toEqual(['first', 'second']);
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toMatchObject({ name: 'AbortError' });
});

test('a listener of a LightSignal can remove itself while it is called, and the next listener is still called', () => {
  const signal = new LightSignal();
  const heard: string[] = [];
  const first = () => {
    signal.removeEventListener('abort', first);
    heard.push('first');
  };
  signal.addEventListener('abort', first);
  signal.addEventListener('abort', () => heard.push('second'));

  signal.fire();

  expect(heard).toEqual(['first', 'second']);
});

test('a LightSignal calls the next listener after one that fails, but no listener that another one removed', async () => {
  const signal = new LightSignal();
  const heard: string[] = [];
  const withdrawn = () => heard.push('withdrawn');
  const failed = new Promise((resolve) => process.once('uncaughtException', resolve));
  const others = process.listeners('uncaughtException').slice(0, -1);
  for (const other of others) process.off('uncaughtException', other);
  signal.addEventListener('abort', () => {
    signal.removeEventListener('abort', withdrawn);
    throw new Error('a bug');
  });
  signal.addEventListener('abort', withdrawn);
  signal.addEventListener('abort', () => heard.push('next'));

  signal.fire();

  expect(heard).toEqual(['next']);
  expect(await failed).toMatchObject({ message: 'a bug' });
  for (const other of others) process.on('uncaughtException', other);
});

test.each(['before', 'after'])('a LightSignal becomes an AbortSignal, %s it has fired', (when) => {
  const signal = new LightSignal();
  if (when === 'after') signal.fire();
  const platforms = abortSignalOf(signal);
  signal.fire();
  expect(platforms.aborted).toBe(true);
  expect(platforms.reason).toBe(signal.reason);
});

test('abortSignalOf returns an AbortSignal unchanged', () => {
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});

test('a LightSignal becomes one and the same AbortSignal on every request for one', () => {
  const signal = new LightSignal();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (type, listener) => {
    listeners++;
    add(type, listener);
  };
  expect(abortSignalOf(signal)).toBe(abortSignalOf(signal));
  expect(listeners).toBe(1);
});
