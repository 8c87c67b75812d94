package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"capcli"
	"capcli/profile"
)

// saved is the result of reading one segment.
type saved struct {
	ticks   int
	dropped int  // bytes behind the last sound frame
	damaged bool // the dropped bytes are more than the torn end of a write
	last    profile.Instant
}

// load returns the bytes of a segment. It fails with *capcli.InputError where the segment is over
// maxLog bytes, and with *DiskError where it cannot be read.
func load(disk Disk, name string) ([]byte, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, diskFault("opening", name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err == nil && size > maxLog {
		return nil, &capcli.InputError{
			File: name, Text: fmt.Sprintf("segment of %d bytes, over the limit of %d: none grows so large", size, maxLog), Hint: "move it away",
		}
	}
	b := make([]byte, size)
	if err == nil {
		var n int
		if n, err = f.ReadAt(b, 0); n == len(b) {
			err = nil
		}
	}
	return b, diskFault("reading", name, err)
}

// play adds the ticks of the segment b to rows, and returns what it read and the header. The
// header is zero where the segment has no sound one.
func play(b []byte, rows *rower) (s saved, head header) {
	r, ok := newReplay(b)
	if !ok {
		return saved{dropped: len(b), damaged: hasSoundFrame(b, 0)}, head
	}
	var t profile.Tick
	for r.nextTick(&t) {
		rows.tick(&t)
		s.last = t.At
	}
	s.ticks = r.ticks
	s.dropped, s.damaged = r.rest()
	return s, r.head
}

// convert writes the rows of a segment to files and then removes the segment; it renames a
// damaged one instead. It may be repeated after it was interrupted at any point.
func (l *listing) convert(seq int64, program string, rows *rower) (saved, error) {
	name := path.Join(l.logDir(), logName(seq))
	b, err := load(l.disk, name)
	switch {
	case isGone(err): // an earlier run did everything but the last sync
		return saved{}, diskFault("syncing", l.logDir(), l.disk.SyncDir(l.logDir()))
	case err != nil && !isDamage(err):
		return saved{}, err
	}
	rows.reset()
	s, head := play(b, rows)
	s.damaged = s.damaged || isDamage(err)
	if head.Program != "" {
		program = head.Program
	}
	for t := range numTables {
		if rows.blocks[t].n == 0 {
			continue
		}
		// A segment has the ticks of one day only.
		dir := path.Join(datePrefix+DateOf(profile.Instant(rows.blocks[t].keys()[0])), hostFolder(l.host))
		if err := l.part(t, dir, seq, rows.blocks[t], program); err != nil {
			return s, err
		}
	}
	if s.damaged {
		err = l.disk.Rename(name, name+oddSuffix)
	} else {
		err = l.disk.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, diskFault("removing", name, err)
	}
	return s, diskFault("syncing", l.logDir(), l.disk.SyncDir(l.logDir()))
}

// part writes the rows of a segment to a file of table t, unless a file holds them already.
func (l *listing) part(t table, dir string, seq int64, b *block, program string) error {
	done, err := l.holdsSegment(t, seq)
	if done || err != nil {
		return err
	}
	temp := fmt.Sprintf(".%s-%08d%s", specs[t].name, seq, partTemp)
	p, err := newPart(l.disk, t, path.Join(l.root, dir), temp, l.host, program)
	if err != nil {
		return err
	}
	if err := p.group(b, b.allRows()); err != nil {
		p.drop()
		return err
	}
	_, err = p.finish(numbers{seq})
	return err
}
