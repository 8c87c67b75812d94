package store

import (
	"iter"
	"math"
	"path"
	"slices"

	"capcli/profile"
)

// Query selects what is read. The zero value selects everything.
type Query struct {
	From, To profile.Instant // ticks at From or later and before To; 0 is unbounded
	Hosts    []string
	Devices  []string // UUIDs; the UUID of a GPU selects its MIG instances too
	// SamplesOnly leaves all but the samples of devices out, DevicesOnly what is not of devices: the
	// figures of the box itself and of jobs' processes, and readings.
	SamplesOnly, DevicesOnly bool

	eventsOnly bool
}

func (q *Query) reads(t table) bool {
	if q.eventsOnly {
		return t == events
	}
	switch t {
	case processes, events:
		return !q.SamplesOnly
	case hostTable, groupTable, readingTable:
		return !q.SamplesOnly && !q.DevicesOnly
	default:
		return true
	}
}

// Reader reads a directory.
type Reader struct {
	disk    Disk
	root    string
	devices map[profile.Device]*profile.Device
	owners  map[profile.Device]*profile.Device // devices by what rows of processes hold of them
	uuids   map[string]*profile.Device         // the device that the samples named last, by UUID
	reasons map[string]*[profile.NumMetrics]profile.Reason
}

// OpenDir returns a Reader of the directory root. A nil disk is System.
func OpenDir(disk Disk, root string) *Reader {
	if disk == nil {
		disk = System{}
	}
	return &Reader{
		disk: disk, root: root, devices: map[profile.Device]*profile.Device{},
		owners: map[profile.Device]*profile.Device{}, uuids: map[string]*profile.Device{},
		reasons: map[string]*[profile.NumMetrics]profile.Reason{},
	}
}

// HostTick is a tick and its host.
type HostTick struct {
	Host string
	*profile.Tick
}

// hosts returns the hosts of a query, sorted. It lists no folder where the query names them.
func (r *Reader) hosts(q Query) ([]string, error) {
	if len(q.Hosts) == 0 {
		return hosts(r.disk, r.root, q.span())
	}
	all := slices.Clone(q.Hosts)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// span returns the instants that the query wants.
func (q Query) span() span {
	want := spanOf(q.From, q.To)
	if q.To != 0 {
		want.to--
	}
	return want
}

// Ticks returns the ticks of files and segments, host by host and in order of time. It may run
// while a Writer writes. A tick is valid until the next one; its devices stay valid. The first
// error ends the sequence: *capcli.InputError for a damaged file, ErrChanged where files
// disappeared meanwhile.
//
// The samples of a tick are in order of GPU index, MIG instance and UUID, its processes in order
// of device and PID, its events in the order they were reported, its groups and readings in order of
// their owners. About an hour of each table is
// in memory at a time.
func (r *Reader) Ticks(q Query) iter.Seq2[HostTick, error] {
	return func(yield func(HostTick, error) bool) {
		hosts, err := r.hosts(q)
		if err != nil {
			yield(HostTick{}, err)
			return
		}
		for _, host := range hosts {
			if going, err := r.host(host, q, yield); err != nil {
				yield(HostTick{}, err)
				return
			} else if !going {
				return
			}
		}
	}
}

// listFiles returns the files of a host of the days in want, and the rows of its segments. It reads the segments
// before it lists the files, so that a segment converted meanwhile is found among the files.
func (r *Reader) listFiles(host string, want span) (*listing, []segmentRows, error) {
	before := &listing{disk: r.disk, root: r.root, host: host, next: 1}
	if err := before.segments(); err != nil {
		return nil, nil, err
	}
	var logs []segmentRows
	for _, seq := range before.logs {
		b, err := load(r.disk, path.Join(before.logDir(), logName(seq)))
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		rows := newRower()
		play(b, rows)
		logs = append(logs, segmentRows{seq, rows})
	}
	l, err := listDays(r.disk, r.root, host, want)
	if err != nil {
		return nil, nil, err
	}
	l.settle()
	return l, logs, nil
}

type segmentRows struct {
	seq  int64
	rows *rower
}

func (r *Reader) host(host string, q Query, yield func(HostTick, error) bool) (going bool, err error) {
	l, logs, err := r.listFiles(host, q.span())
	if err != nil {
		return false, err
	}
	return r.play(l, logs, q, yield)
}

func (r *Reader) play(l *listing, logs []segmentRows, q Query, yield func(HostTick, error) bool) (going bool, err error) {
	want := q.span()
	heads, err := r.heads(l, logs, q, want)
	defer func() {
		for _, h := range heads {
			h.s.close()
		}
	}()
	if err != nil {
		return false, err
	}
	var t profile.Tick
	for {
		at, ok, err := soonestInstant(heads)
		if !ok || err != nil {
			return true, err
		}
		t.Reset()
		t.At = profile.Instant(at)
		for _, h := range heads {
			if err := h.take(at, &t, q); err != nil {
				return false, err
			}
		}
		if at < want.from || at > want.to {
			continue
		}
		if !yield(HostTick{l.host, &t}, nil) {
			return false, nil
		}
	}
}

// soonestInstant returns the earliest instant of the next rows of heads; ok is false where none
// has a row left.
func soonestInstant(heads []*head) (at int64, ok bool, err error) {
	at = math.MaxInt64
	for _, h := range heads {
		key, more, err := h.peek()
		if err != nil {
			return 0, false, err
		}
		if more {
			at, ok = min(at, key), true
		}
	}
	return at, ok, nil
}

// heads returns a stream for each table that the query reads.
func (r *Reader) heads(l *listing, logs []segmentRows, q Query, want span) ([]*head, error) {
	var heads []*head
	for t := range numTables {
		if !q.reads(t) {
			continue
		}
		h := &head{r: r, s: newStream(l, t, l.currentFiles(t), want)}
		heads = append(heads, h)
		for _, log := range logs {
			done, err := l.holdsSegment(t, log.seq)
			if err != nil {
				return heads, err
			}
			if !done {
				h.s.add(log.seq, log.rows.blocks[t])
			}
		}
	}
	return heads, nil
}

// head is a stream and the position of its next row.
type head struct {
	r    *Reader
	s    *stream
	at   int // index of the next row in s.rows
	done bool
	devs []*profile.Device // device of each row of s.acc
}

// peek returns the instant of the next row; ok is false at the end.
func (h *head) peek() (key int64, ok bool, err error) {
	for !h.done && h.at == len(h.s.rows) {
		if err := h.s.fill(0); err != nil {
			return 0, false, err
		}
		h.at = 0
		h.done = len(h.s.rows) == 0
		h.s.acc.sortByTime(h.s.rows)
		h.r.know(h)
	}
	if h.done {
		return 0, false, nil
	}
	return h.s.acc.keys()[h.s.rows[h.at]], true, nil
}

// take adds all rows of instant at to t.
func (h *head) take(at int64, t *profile.Tick, q Query) error {
	for {
		key, ok, err := h.peek()
		if err != nil || !ok || key != at {
			return err
		}
		row := int(h.s.rows[h.at])
		h.at++
		switch h.s.t {
		case ticks:
			tickRow(h.s.acc, row, t)
		case samples:
			h.r.sampleRow(h, row, t, q)
		case processes:
			h.r.processRow(h, row, t, q)
		case events:
			eventRow(h.s.acc, row, t, q)
		case hostTable:
			hostRow(h.s.acc, row, t)
		case groupTable:
			groupRow(h.s.acc, row, t)
		default:
			h.r.readingRow(h.s.acc, row, t, q)
		}
	}
}
