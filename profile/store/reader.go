package store

import (
	"iter"
	"math"
	"path"
	"slices"

	"capcli/profile"
)

// Query says what is to be read. The zero value is everything.
type Query struct {
	From, To profile.Instant // ticks from the one, up to but without the other; 0 is open
	Hosts    []string
	Devices  []string // uuids; those of MIG instances' parents name the instances too
	// SamplesOnly leaves processes and events out.
	SamplesOnly bool
}

// Reader reads a directory.
type Reader struct {
	disk    Disk
	root    string
	devices map[profile.Device]*profile.Device
	owners  map[profile.Device]*profile.Device // by what processes tell of them
	reasons map[string]*[profile.NumMetrics]profile.Reason
}

// OpenDir begins to read a directory; nil is the System's disk.
func OpenDir(disk Disk, root string) *Reader {
	if disk == nil {
		disk = System{}
	}
	return &Reader{
		disk: disk, root: root, devices: map[profile.Device]*profile.Device{},
		owners: map[profile.Device]*profile.Device{}, reasons: map[string]*[profile.NumMetrics]profile.Reason{},
	}
}

// HostTick is a tick and the host that it is of.
type HostTick struct {
	Host string
	*profile.Tick
}

// Hosts lists the hosts that there is something of.
func (r *Reader) Hosts() ([]string, error) { return hosts(r.disk, r.root) }

// Ticks reads back, host by host and in order of time, what is in files and
// what is still in segments, also while it is written. A tick is valid until
// the next, but for its devices. The first error ends it: an InputError for a
// file that is damaged, ErrChanged where files went away meanwhile.
//
// Of a tick the samples are in order of the driver's number, the instance and
// the uuid, the processes of device and pid, the events as they were told. At
// most an hour or so of each table is in memory.
func (r *Reader) Ticks(q Query) iter.Seq2[HostTick, error] {
	return func(yield func(HostTick, error) bool) {
		hosts, err := r.Hosts()
		if err != nil {
			yield(HostTick{}, err)
			return
		}
		for _, host := range hosts {
			if len(q.Hosts) > 0 && !slices.Contains(q.Hosts, host) {
				continue
			}
			if going, err := r.host(host, q, yield); err != nil {
				yield(HostTick{}, err)
				return
			} else if !going {
				return
			}
		}
	}
}

// listFiles lists a host's files with the rows of its segments, which are read
// first: what becomes a file meanwhile is then known as one.
func (r *Reader) listFiles(host string) (*listing, []segmentRows, error) {
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
	l, err := list(r.disk, r.root, host)
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
	l, logs, err := r.listFiles(host)
	if err != nil {
		return false, err
	}
	want := spanOf(q.From, q.To)
	if q.To != 0 {
		want.to--
	}
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
		if !yield(HostTick{host, &t}, nil) {
			return false, nil
		}
	}
}

// soonestInstant is the instant of the first row that any head has.
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

// heads begins a stream of each table.
func (r *Reader) heads(l *listing, logs []segmentRows, q Query, want span) ([]*head, error) {
	var heads []*head
	for t := range numTables {
		if q.SamplesOnly && (t == processes || t == events) {
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

// head is a stream with the row that comes next.
type head struct {
	r    *Reader
	s    *stream
	at   int // in s.rows
	done bool
	devs []*profile.Device // of the rows of s.acc
}

// peek gives the instant of the next row.
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

// take adds all rows of one instant to t.
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
		default:
			eventRow(h.s.acc, row, t, q)
		}
	}
}
