package store

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	magic     = "CAPWAL01"
	frameHead = 8        // bytes of length and checksum
	maxFrame  = 4 << 20  // largest payload, in bytes
	maxLog    = 64 << 20 // largest segment that is read, in bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func beginFrame(b []byte) []byte { return append(b, make([]byte, frameHead)...) }

// endFrame fills in the head of the frame that begins at from and ends at the end of b.
func endFrame(b []byte, from int) {
	binary.LittleEndian.PutUint32(b[from:], uint32(len(b)-from-frameHead))
	binary.LittleEndian.PutUint32(b[from+4:], sumOf(b[from:]))
}

// sumOf returns the checksum of a frame: the CRC-32C of its length and its payload.
func sumOf(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[:4], castagnoli), castagnoli, frame[frameHead:])
}

// frameAt returns the payload of the frame at from and the offset of its end. ok is false where
// there is no sound frame.
func frameAt(b []byte, from int) (payload []byte, end int, ok bool) {
	if len(b)-from < frameHead {
		return nil, from, false
	}
	n := binary.LittleEndian.Uint32(b[from:])
	if n == 0 || n > maxFrame || int(n) > len(b)-from-frameHead {
		return nil, from, false
	}
	end = from + frameHead + int(n)
	frame := b[from:end]
	if sumOf(frame) != binary.LittleEndian.Uint32(frame[4:]) {
		return nil, from, false
	}
	return frame[frameHead:], end, true
}

// hasSoundFrame reports whether a sound frame of a tick begins anywhere behind from: then the
// frame at from is not the torn end of the file. It gives up, and returns true, after it has
// checksummed 64 times the bytes of b.
func hasSoundFrame(b []byte, from int) bool {
	room := 64 * len(b)
	for at := from + 1; at+frameHead < len(b); at++ {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n == 0 || n > maxFrame || n > len(b)-at-frameHead || b[at+frameHead] != tickFrame {
			continue
		}
		if _, _, ok := frameAt(b, at); ok {
			return true
		}
		if room -= n; room < 0 {
			return true
		}
	}
	return false
}
