import { describe, expect, it } from 'vitest';
import {
  ConnectionBytes,
  ConnectionMemory,
} from '../../../../../src/models/responses/connection/connection-memory.ts';
import { RESPONSES_LIMITS } from '../../../../../src/models/responses/limits.ts';

const { bytes: connectionBytes, allBytes: connectionsBytes } = RESPONSES_LIMITS.connection;
const said = (bytes: number) => ({ bytes, items: [{ type: 'message' }] });

describe('what a connection remembers', () => {
  it('a Responses connection remembers only the conversation up to its last response', () => {
    const memory = new ConnectionMemory(new ConnectionBytes());
    memory.remember('a', said(10));
    expect(memory.find('a')).toMatchObject(said(10));
    memory.remember('b', said(20));
    expect([memory.find('a'), memory.find('b')]).toMatchObject([undefined, said(20)]);
  });

  it('a Responses connection remembers nothing when its conversation exceeds the limit of one connection', () => {
    const memory = new ConnectionMemory(new ConnectionBytes());
    memory.remember('a', said(connectionBytes));
    expect(memory.find('a')).toBeDefined();
    memory.remember('b', said(connectionBytes + 1));
    expect([memory.find('a'), memory.find('b')]).toEqual([undefined, undefined]);
  });

  it('the Responses connections share a memory limit, and a closed connection frees its part', () => {
    const all = new ConnectionBytes();
    const most = connectionsBytes / connectionBytes;
    const memories = Array.from({ length: most + 1 }, () => new ConnectionMemory(all));
    for (const memory of memories) memory.remember('a', said(connectionBytes));
    const remembering = () => memories.filter((memory) => memory.find('a') !== undefined).length;
    expect(remembering()).toBe(most);
    for (const memory of memories) memory.close();
    // A response that ends behind its connection takes no room for ever.
    for (const memory of memories) memory.remember('a', said(connectionBytes));
    expect([remembering(), all.take(connectionsBytes)]).toEqual([0, true]);
  });
});
