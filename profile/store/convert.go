package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"capcli"
	"capcli/profile"
)

// saved says what became of one segment.
type saved struct {
	ticks   int
	dropped int  // bytes that were not sound
	damaged bool // and were not just the end of a write
	last    profile.Instant
}

// load reads a segment's bytes.
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

// play adds the ticks of a segment to rows.
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

// convert makes files of a segment and removes it. It may be done again at
// whatever point it was cut off.
func (l *listing) convert(seq int64, program string, rows *rower) (saved, error) {
	name := path.Join(l.logDir(), logName(seq))
	b, err := load(l.disk, name)
	switch {
	case isGone(err): // all was done but for the last sync
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
		// Only the ticks of one day are in a segment.
		dir := path.Join(datePrefix+dateOf(profile.Instant(rows.blocks[t].keys()[0])), hostFolder(l.host))
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

// part writes the rows of a segment, unless they are there.
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
