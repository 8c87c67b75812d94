// Package store keeps ticks in a directory so that none is lost.
//
// # What is on disk
//
//	DIR/date=2026-11-20/host=box/samples-20261120T154858Z-00000042.parquet
//	DIR/.wal/host=box/00000043.wal
//
// A tick is first appended to a log, the segment, with one write: what was
// written is safe from a kill of the program, and at most a second later, after
// an fsync, from a loss of power. A segment ends after ten minutes, at midnight
// UTC, when the clock goes back, the devices change or it grows large. It then
// becomes a Parquet file of each of four tables (ticks, samples, processes,
// events), which is written under another name, synced and renamed; only then
// is the segment removed. Files bear the number of their segment, so that doing
// it again after a crash changes nothing. Tables are described in docs/profile-files.md.
//
// Compact makes one file out of many of the same day and host. Its metadata
// names the segments that are in it, and a file whose segments are all in
// another is passed over and in time removed: nothing is ever there twice.
//
// # The log
//
// A segment is the eight bytes CAPWAL01 and then frames: the length of the
// payload and its CRC-32C over length and payload, four bytes each, little
// endian, then the payload. The first payload is the header: 'H', then JSON.
// The others are ticks: 'T', then varints, each figure as the difference from
// the one of the tick before in whole steps (profile.Metrics), so that a segment
// can be read alone. Reading stops at the first frame that is not sound. Where
// sound frames come behind it the file was damaged and is kept aside; else it
// is the torn end of a write that nobody was told had succeeded.
//
// # A clock is not needed
//
// Time is that of the ticks. A Clock only spreads the fsyncs.
package store
