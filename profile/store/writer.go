package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"capcli/profile"
)

// Options configures a Writer. Every field may be zero: its comment gives the default.
type Options struct {
	Disk    Disk   // default: System
	Host    string // default: "unknown"
	Program string // version of capcli, written into the files
	Holder  string // name of this program, shown to another program that finds the store locked
	// Every is the requested interval of samples and Processes that of process lists. Both are
	// only written into the header of a segment.
	Every, Processes time.Duration
	// Sync is the time between fsyncs, and so the longest time for which a tick may be lost to a
	// loss of power; default 1 s. Without a Clock an fsync follows each tick.
	Sync  time.Duration
	Clock profile.Clock
	// A segment ends at SegmentTime, SegmentBytes bytes or SegmentRows samples; defaults 10 min,
	// 4 MiB and 32,768.
	SegmentTime  time.Duration
	SegmentBytes int64
	SegmentRows  int
	// Trouble is called with errors of the background work, which is tried again: no tick is
	// lost. Other goroutines call it.
	Trouble func(error)
}

func (o *Options) fill() {
	if o.Disk == nil {
		o.Disk = System{}
	}
	o.Host = cmp.Or(o.Host, "unknown")
	o.Sync = cmp.Or(o.Sync, time.Second)
	o.SegmentTime = cmp.Or(o.SegmentTime, 10*time.Minute)
	o.SegmentBytes = cmp.Or(o.SegmentBytes, 4<<20)
	o.SegmentRows = cmp.Or(o.SegmentRows, groupRows)
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
}

// Writer is the profile.Sink that writes a store. Write and Close must be called by one
// goroutine.
type Writer struct {
	o    Options
	root string
	dir  string // folder of the segments
	lock io.Closer

	seg     *segment
	next    int64 // number of the next segment
	buf     []byte
	ticked  int             // ticks written in this run
	last    profile.Instant // instant of the last tick written, in this run or an earlier one
	lost    int             // ticks lost since then
	because error
	saved   []profile.Event // events of the recovery, written with the first tick
	more    []profile.Event // events of the store itself, written with the next tick

	background
}

var _ profile.Sink = (*Writer)(nil)

// segment is the log being written.
type segment struct {
	seq     int64
	file    File
	enc     *encoder
	first   profile.Instant
	day     int64 // days since 1970-01-01 UTC
	size    int64
	samples int

	mu     sync.Mutex // guards the fields below and the closing of file
	closed bool
	named  bool // its folder was synced
}

// Recovery is what Create found of an earlier run that did not end with Close.
type Recovery struct {
	Segments int
	Ticks    int
	Dropped  int             // bytes that were not sound and are not saved
	Damaged  []string        // names under which damaged segments are kept
	Last     profile.Instant // instant of the last tick in the store; 0 where there is none
}

// Create opens the store of a host in the directory root for writing, and creates it where there
// is none. It first converts the segments that an earlier run left. It fails where another
// program writes the store of this host, and with *DiskError where the directory cannot be
// written.
func Create(root string, o Options) (*Writer, *Recovery, error) {
	o.fill()
	w := &Writer{o: o, root: root, dir: path.Join(root, logFolder, hostFolder(o.Host))}
	w.rows = newRower()
	if err := o.Disk.MakeDir(w.dir); err != nil {
		return nil, nil, diskFault("creating", w.dir, err)
	}
	name := path.Join(w.dir, lockName)
	var err error
	if w.lock, err = o.Disk.Lock(name, o.Holder); err != nil {
		return nil, nil, diskFault("locking", name, err)
	}
	rec, err := w.recover()
	if err != nil {
		return nil, nil, errors.Join(err, w.lock.Close())
	}
	w.start()
	return w, rec, nil
}

// recover removes unfinished files and converts the segments that an earlier run left. A segment
// that fails with a DiskError is queued for another try.
func (w *Writer) recover() (*Recovery, error) {
	l, err := list(w.o.Disk, w.root, w.o.Host)
	if err != nil {
		return nil, err
	}
	for _, name := range l.temps {
		if strings.HasSuffix(name, partTemp) {
			if err := l.disk.Remove(path.Join(w.root, name)); err != nil {
				return nil, diskFault("removing", path.Join(w.root, name), err)
			}
		}
	}
	rec := &Recovery{}
	w.next = l.next
	for _, seq := range l.logs {
		s, err := l.convert(seq, w.o.Program, w.rows)
		var full *DiskError
		switch {
		case errors.As(err, &full):
			w.o.Trouble(err)
			w.waiting = append(w.waiting, ended{seq: seq})
		case err != nil:
			return nil, err
		}
		rec.Segments++
		rec.Ticks += s.ticks
		rec.Dropped += s.dropped
		rec.Last = max(rec.Last, s.last)
		if s.damaged {
			rec.Damaged = append(rec.Damaged, path.Join(w.dir, logName(seq)+oddSuffix))
		}
	}
	rec.Last = max(rec.Last, l.lastTick())
	w.tell(rec)
	return rec, nil
}

// lastTick returns the instant of the last tick in the newest file of table ticks; 0 where there
// is none or it cannot be read. Verify reports an unreadable file.
func (l *listing) lastTick() profile.Instant {
	var newest *piece
	for i := range l.pieces {
		if p := &l.pieces[i]; p.table == ticks && (newest == nil || p.to > newest.to) {
			newest = p
		}
	}
	if newest == nil {
		return 0
	}
	o, err := l.open(newest)
	if err != nil {
		return 0
	}
	defer o.close()
	return profile.Instant(o.groups[len(o.groups)-1][1])
}

// tell turns rec into the events of the first tick.
func (w *Writer) tell(rec *Recovery) {
	w.last = rec.Last
	if rec.Segments == 0 {
		return
	}
	text := fmt.Sprintf("%d ticks of a run that did not end in order were saved", rec.Ticks)
	if len(rec.Damaged) > 0 {
		text += "; damaged and kept aside: " + strings.Join(rec.Damaged, ", ")
	}
	w.saved = []profile.Event{{Kind: profile.Recovered, Value: int64(rec.Dropped), Text: cleanText(text)}}
}

// Write implements profile.Sink. An error means that this tick alone is lost. A later Write may
// succeed, and then adds an event about the loss.
func (w *Writer) Write(t *profile.Tick) error {
	if w.seg != nil && w.needsNewSegment(t) {
		w.retire()
	}
	w.events(t)
	err := w.append(t)
	if err != nil {
		w.lost, w.because = w.lost+1, err
		w.retire()
		return err
	}
	w.last, w.lost, w.saved = t.At, 0, nil
	w.ticked++
	w.wake()
	return nil
}

// needsNewSegment reports whether t must start another segment.
func (w *Writer) needsNewSegment(t *profile.Tick) bool {
	s := w.seg
	return t.At < w.last || t.At.Sub(s.first) >= w.o.SegmentTime || dayOf(t.At) != s.day ||
		s.size >= w.o.SegmentBytes || s.samples+len(t.Samples) > w.o.SegmentRows || !s.enc.knows(t)
}

// events sets w.more to the events of the store itself that go with t. Only the first tick of a
// run, and the first tick after a loss, have any.
func (w *Writer) events(t *profile.Tick) {
	w.more = w.more[:0]
	if w.ticked > 0 && w.lost == 0 {
		return
	}
	for _, e := range w.saved {
		e.At = t.At
		w.more = append(w.more, e)
	}
	why := "not sampling"
	if w.lost > 0 {
		why = fmt.Sprintf("%d ticks could not be written", w.lost)
		w.more = append(w.more, profile.Event{At: t.At, Kind: profile.DiskTrouble, Value: int64(w.lost), Text: cleanText(w.because.Error())})
	}
	// The tick itself stands for the last interval, and what it tells of gaps is told.
	gap := int64(t.At-w.last) - micros(t.Every)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == profile.Gap && e.Device == "" {
			gap -= e.Value
		}
	}
	if w.last > 0 && gap > 0 {
		w.more = append(w.more, profile.Event{At: w.last, Kind: profile.Gap, Value: gap, Text: why})
	}
}

// append writes t to the segment. It starts a segment where there is none.
func (w *Writer) append(t *profile.Tick) error {
	w.buf = w.buf[:0]
	s := w.seg
	if s == nil {
		s = &segment{seq: w.next, first: t.At, day: dayOf(t.At)}
		h := newHeader()
		h.Program, h.Host, h.First, h.Every, h.Looks, h.Devices = w.o.Program, w.o.Host, t.At, w.o.Every, w.o.Processes, devicesOf(t)
		s.enc = newEncoder(h.Devices, t.At)
		var err error
		if w.buf, err = appendJSON(append(w.buf, magic...), headerFrame, &h); err != nil {
			return err
		}
	}
	var err error
	if len(s.enc.devices) == 0 {
		if devices := devicesOf(t); len(devices) > 0 {
			s.enc.meet(devices)
			if w.buf, err = appendJSON(w.buf, deviceFrame, s.enc.devices); err != nil {
				return err
			}
		}
	}
	if w.buf, err = s.enc.tick(w.buf, t, w.more); err != nil {
		return err
	}
	if w.seg == nil {
		w.next++
		name := path.Join(w.dir, logName(s.seq))
		if s.file, err = w.o.Disk.Create(name); err != nil {
			return diskFault("creating", name, err)
		}
		w.seg = s
	}
	n, err := s.file.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return diskFault("writing", path.Join(w.dir, logName(s.seq)), err)
	}
	s.size += int64(n)
	s.samples += len(t.Samples)
	return nil
}

// devicesOf returns the devices of the samples, processes and readings of a tick, each once.
func devicesOf(t *profile.Tick) []profile.Device {
	var all []profile.Device
	add := func(d *profile.Device) {
		if c := clean(d); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for i := range t.Samples {
		add(t.Samples[i].Device)
	}
	for i := range t.Processes {
		add(t.Processes[i].Device)
	}
	for i := range t.Readings {
		if d := t.Readings[i].Device; d != nil {
			add(d)
		}
	}
	return all
}

// retire ends the segment and queues it for conversion. It removes a segment without an
// acknowledged tick at once, so that such segments do not pile up on a full disk.
func (w *Writer) retire() {
	s := w.seg
	if s == nil {
		return
	}
	w.seg = nil
	if s.size == 0 {
		_ = s.close() // the segment holds no acknowledged tick
		if err := w.o.Disk.Remove(path.Join(w.dir, logName(s.seq))); err == nil {
			return
		}
	}
	w.hand(ended{s.seq, s})
}

// close closes the file of the segment; a second call does nothing.
func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.file.Close()
}

// Close implements profile.Sink. When it returns nil, all ticks are in files. Otherwise some are
// still in segments, which the next Create converts.
func (w *Writer) Close() error {
	w.retire()
	return errors.Join(w.stop(), w.lock.Close())
}

// Waiting returns the size in bytes of the append log: of the ticks that are in no Parquet file yet.
// It may be called while Write and Close run.
func (w *Writer) Waiting() (int64, error) {
	entries, err := w.o.Disk.List(w.dir)
	if err != nil {
		return 0, diskFault("reading", w.dir, err)
	}
	n := int64(0)
	for _, e := range entries {
		if strings.HasSuffix(e.Name, logSuffix) {
			n += e.Size
		}
	}
	return n, nil
}
