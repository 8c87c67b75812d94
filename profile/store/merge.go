package store

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"capcli/profile"
)

// ticksOf calls yield with the ticks of a box. going is false where yield ended it.
func (f *Folders) ticksOf(b hostBox, q Query, yield func(HostTick, error) bool) (going bool, err error) {
	q.Hosts = []string{b.host}
	if len(b.in) == 1 {
		return b.yieldOne(q, yield)
	}
	var heads []*tickHead
	for _, d := range b.in {
		next, stop := iter.Pull2(OpenDir(d.Disk, d.Root).Ticks(q))
		defer stop()
		h := &tickHead{folder: d, next: next}
		h.advance()
		heads = append(heads, h)
	}
	m := merger{name: b.name}
	defer func() { f.overlaps = append(f.overlaps, m.overlaps...) }()
	for {
		first, err := earliest(heads)
		if first == nil || err != nil {
			return true, err
		}
		at := first.tick.At
		t := m.merge(heads, at)
		if !yield(HostTick{b.name, t}, nil) {
			return false, nil
		}
		for _, h := range heads {
			if h.tick != nil && h.tick.At == at {
				h.advance()
			}
		}
	}
}

// tickHead is the next tick of a directory.
type tickHead struct {
	folder Folder
	next   func() (HostTick, error, bool)
	tick   *profile.Tick // nil at the end
	err    error
}

func (h *tickHead) advance() {
	t, err, ok := h.next()
	h.tick, h.err = nil, nil
	switch {
	case err != nil:
		h.err = h.folder.wrap(err)
	case ok:
		h.tick = t.Tick
	}
}

// yieldOne calls yield with all ticks of a box that is in one directory.
func (b *hostBox) yieldOne(q Query, yield func(HostTick, error) bool) (going bool, err error) {
	d := &b.in[0]
	for t, err := range OpenDir(d.Disk, d.Root).Ticks(q) {
		if err != nil {
			return false, d.wrap(err)
		}
		if !yield(HostTick{b.name, t.Tick}, nil) {
			return false, nil
		}
	}
	return true, nil
}

// earliest returns the head whose tick is first, nil at the end of all.
func earliest(heads []*tickHead) (first *tickHead, err error) {
	for _, h := range heads {
		if h.err != nil {
			return nil, h.err
		}
		if h.tick != nil && (first == nil || h.tick.At < first.tick.At) {
			first = h
		}
	}
	return first, nil
}

// merger makes one tick of those of several directories at the same instant.
type merger struct {
	name     string
	t        profile.Tick
	overlaps []*overlap
	known    []*profile.Device // of the samples that t had
	same     []string          // names of the directories that hold the same samples
}

// overlap is what several directories hold of a box in common.
type overlap struct {
	host     string
	folders  []string
	from, to profile.Instant
	ticks    int64
}

// merge returns the tick of the heads at an instant. It is valid until the next one.
func (m *merger) merge(heads []*tickHead, at profile.Instant) *profile.Tick {
	var first *tickHead
	m.same = m.same[:0]
	merged := false
	for _, h := range heads {
		switch {
		case h.tick == nil || h.tick.At != at:
		case first == nil:
			first = h
		default:
			if !merged {
				merged = true
				m.copy(first.tick)
				m.same = append(m.same, first.folder.Name)
			}
			if m.add(h.tick) {
				m.same = append(m.same, h.folder.Name)
			}
		}
	}
	if !merged {
		return first.tick
	}
	if len(m.same) > 1 {
		m.note(at)
	}
	return &m.t
}

func (m *merger) copy(t *profile.Tick) {
	m.t.Reset()
	samples, processes, events, groups, readings := m.t.Samples, m.t.Processes, m.t.Events, m.t.Groups, m.t.Readings
	m.t = *t
	m.t.Samples, m.t.Processes, m.t.Events = append(samples, t.Samples...), append(processes, t.Processes...), append(events, t.Events...)
	m.t.Groups, m.t.Readings = append(groups, t.Groups...), append(readings, t.Readings...)
}

// add adds what t tells beyond m.t, and reports whether both have the same sample.
func (m *merger) add(t *profile.Tick) (both bool) {
	looked := m.t.LookedAtProcesses
	m.known = m.known[:0]
	for i := range m.t.Samples {
		m.known = append(m.known, m.t.Samples[i].Device)
	}
	known := m.known
	for i := range t.Samples {
		if slices.ContainsFunc(known, func(d *profile.Device) bool { return isSame(d, t.Samples[i].Device) }) {
			both = true
		} else {
			m.t.Samples = append(m.t.Samples, t.Samples[i])
		}
	}
	if len(m.t.Samples) > len(known) {
		slices.SortStableFunc(m.t.Samples, func(a, b profile.Sample) int { return compareDevices(a.Device, b.Device) })
	}
	m.t.Every = cmp.Or(m.t.Every, t.Every)
	m.t.LookedAtProcesses = looked || t.LookedAtProcesses
	for i := range t.Processes {
		if p := &t.Processes[i]; !looked || !slices.ContainsFunc(known, func(d *profile.Device) bool { return isSame(d, p.Device) }) {
			m.t.Processes = append(m.t.Processes, *p)
		}
	}
	m.addAround(t)
	return both
}

// addAround adds what t tells beyond m.t of all but GPUs and their processes.
func (m *merger) addAround(t *profile.Tick) {
	for _, e := range t.Events {
		if !slices.Contains(m.t.Events, e) {
			m.t.Events = append(m.t.Events, e)
		}
	}
	if t.LookedAtHost && !m.t.LookedAtHost {
		m.t.Host, m.t.LookedAtHost = t.Host, true
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		if !slices.ContainsFunc(m.t.Groups, func(x profile.GroupSample) bool { return x.Owner == g.Owner }) {
			m.t.Groups = append(m.t.Groups, *g)
		}
	}
	for _, r := range t.Readings {
		if !slices.ContainsFunc(m.t.Readings, func(x profile.Reading) bool {
			return x.Owner == r.Owner && x.Name == r.Name && isSame(x.Device, r.Device)
		}) {
			m.t.Readings = append(m.t.Readings, r)
		}
	}
}

func isSame(a, b *profile.Device) bool {
	return a == b || a != nil && b != nil && a.UUID == b.UUID && a.Profile == b.Profile
}

func compareDevices(a, b *profile.Device) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.GI, b.GI), cmp.Compare(a.CI, b.CI), strings.Compare(a.UUID, b.UUID))
}

// note counts a tick that the directories of m.same hold in common.
func (m *merger) note(at profile.Instant) {
	for _, o := range m.overlaps {
		if slices.Equal(o.folders, m.same) {
			o.to = at
			o.ticks++
			return
		}
	}
	m.overlaps = append(m.overlaps, &overlap{m.name, slices.Clone(m.same), at, at, 1})
}

// Overlaps returns what several directories hold in common of the ticks read last.
func (f *Folders) Overlaps() []profile.Overlap {
	out := []profile.Overlap{}
	for _, o := range f.overlaps {
		out = append(out, profile.Overlap{Host: o.host, Folders: o.folders, From: o.from.Stamp(), To: o.to.Stamp(), Ticks: o.ticks})
	}
	return out
}

// Describe tells a summary of the ticks read last what several directories hold in common, and which
// boxes share a name.
func (f *Folders) Describe(s *profile.Summary) {
	s.Overlaps, s.SameNames = f.Overlaps(), slices.Clone(f.sameNames)
}

// Notes returns remarks on the ticks read last, as a summary has them.
func (f *Folders) Notes() []string { return profile.FolderNotes(f.Overlaps(), f.sameNames) }
