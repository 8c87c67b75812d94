// Package store writes ticks to a directory without losing any, and reads them back.
//
// # Files
//
//	DIR/date=2026-11-20/host=box/samples-20261120T154858Z-00000042.parquet
//	DIR/.wal/host=box/00000043.wal
//
// A tick is first appended to a log, the segment, with one write. A written tick survives a kill
// of the program, and after an fsync at most one second later a loss of power. A segment ends
// after ten minutes, at midnight UTC, when the clock goes back, when the devices change, or when
// it grows large. It is then converted to one Parquet file for each of the seven tables (ticks,
// samples, processes, events, hosts, groups, readings) in which it has rows. Each file is written under a temporary name,
// synced and renamed; only then is the segment removed. A file name has the number of its
// segment, so that repeating the conversion after a crash changes nothing. docs/profile-files.md
// describes the tables.
//
// Compact merges the files of the same table, day and host into one. The metadata of the merged
// file names the segments in it. A file whose segments are all in another file is ignored and
// later removed, so no row is read twice.
//
// # The log
//
// A segment is the eight bytes CAPWAL01 and then frames. A frame is the length of its payload,
// the CRC-32C of length and payload (four bytes each, little endian), and the payload. The first
// payload is the header: 'H', then JSON. The header names all that the ticks refer to, so that a
// segment can be read alone; where the first tick has no devices, a frame of 'D' and JSON names
// them later. All other payloads are ticks: 'T', then varints. Each figure is the difference from
// the previous tick in whole steps (profile.Metrics). The figures of the box, of jobs' processes and
// the readings follow the events; a tick that has none ends there, as those of earlier versions do.
// Reading stops at the first frame that is
// not sound. Where a sound tick follows it, the file was damaged and is kept under another name.
// Otherwise it is the torn end of a write that was never acknowledged.
//
// # Clock
//
// All times are those of the ticks. A Clock only spaces the fsyncs.
package store
