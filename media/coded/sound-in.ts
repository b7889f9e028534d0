import { pastTags } from '../duration/walk-frames.ts';
import { mp4Packets } from '../mp4/mp4-packets.ts';
import { oggPackets } from '../ogg/ogg-packets.ts';
import { parseWavSound, type WavSound } from '../wav-sound.ts';
import { webmPackets } from '../webm/webm-packets.ts';
import { flacPackets, framePackets } from './frame-packets.ts';
import { parsePackedWav } from './packed-wav.ts';
import { type PacketBatch, SoundRefused } from './packets.ts';
import { soundKind } from './sound-kind.ts';

/** Returns the audio of a file: its samples, or packets for a decoder. Throws SoundRefused, also while packets are read. */
export function soundIn(file: Buffer): WavSound | Generator<PacketBatch> {
  switch (soundKind(file)) {
    case 'wav':
      return wavIn(file);
    case 'ogg':
      return oggPackets(file);
    case 'mp4':
      return mp4Packets(file);
    case 'webm':
      return webmPackets(file);
    case 'flac':
      return flacPackets(file.subarray(pastTags(file)));
    case 'aac':
      return framePackets(file, 'aac');
    case 'mp3':
      return framePackets(file, 'mp3');
    case undefined:
      throw new SoundRefused('The file is of no kind that is decoded here.');
  }
}

function wavIn(file: Buffer): WavSound | Generator<PacketBatch> {
  const wav = parseWavSound(file);
  if (wav.kind === 'parsed') return wav;
  const packed = parsePackedWav(file);
  if (packed.kind === 'parsed' && packed.isMp3) {
    const { data } = packed;
    return framePackets(Buffer.from(data.buffer, data.byteOffset, data.length), 'mp3');
  }
  throw new SoundRefused(
    `The WAV file cannot be decoded: ${wav.reason}. Send PCM, or another kind of file.`,
  );
}
