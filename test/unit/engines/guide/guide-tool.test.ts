import { describe, expect, it } from 'vitest';
import { chooseTool } from '../../../../src/engines/guide/guide-tool.ts';

const weather = { name: 'get_weather', description: 'The weather of a city at this hour' };
const order = { name: 'cancelOrder', description: 'Cancels an order by its number' };

describe('guide tool', () => {
  it('calls the tool whose subject is spoken of', () => {
    expect(chooseTool('What is the weather in Paris?', [order, weather])).toBe(weather);
    expect(chooseTool('please cancel my order', [order, weather])).toBe(order);
  });

  it('calls none when none is clearly meant, or two are', () => {
    expect(chooseTool('what is my balance', [order, weather])).toBeUndefined();
    expect(chooseTool('where is my order', [order, weather])).toBeUndefined();
    expect(chooseTool('weather', [weather, { ...weather }])).toBeUndefined();
    expect(chooseTool('weather', [])).toBeUndefined();
  });

  it('calls the one that is spoken of most where one must be called, the first of several', () => {
    expect(chooseTool('where is my order', [weather, order], true)).toBe(order);
    expect(chooseTool('what is my balance', [order, weather], true)).toBe(order);
    expect(chooseTool('weather', [], true)).toBeUndefined();
  });
});
