package readings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"capcli/profile"
)

// How often things are looked at, and limits.
const (
	askEvery   = 10 * time.Second // pages of metrics
	askFor     = 8 * time.Second
	listEvery  = 30 * time.Second // folders
	mostFiles  = 64               // of a folder
	mostPlaces = 64
	mostTold   = 1024 // readings of a tick
)

// Options are what a Watch is made with.
type Options struct {
	Places []Place
	Disk   Disk
	Fetch  func(ctx context.Context, address string) (io.ReadCloser, error)
	Note   func(text string) // told of places that cannot be read, once each time; may be nil
}

// Watch is a source of samples whose ticks also have what programs say of themselves.
type Watch struct {
	profile.Source
	o       Options
	sources []*source
	listed  profile.Instant
	holders holders
	out     []profile.Reading
}

// source is a file or a page.
type source struct {
	place  *Place
	name   string
	file   *follower
	page   *page
	book   *book
	failed string
	number profile.Owner // whose the file is, by its name
	device *profile.Device
}

// NewWatch returns a Watch over the samples of src.
func NewWatch(src profile.Source, o Options) *Watch {
	w := &Watch{Source: src, o: o, holders: holders{byPID: map[string]*holder{}, byJob: map[string]profile.Owner{}}}
	if len(o.Places) > mostPlaces {
		w.note(fmt.Sprintf("%d places of readings, %d are read", len(o.Places), mostPlaces))
		w.o.Places = o.Places[:mostPlaces]
	}
	for i := range w.o.Places {
		if p := &w.o.Places[i]; p.Page {
			name := p.Name
			fetch := func(ctx context.Context) (io.ReadCloser, error) { return o.Fetch(ctx, name) }
			w.sources = append(w.sources, &source{place: p, name: name, page: &page{name: name, fetch: fetch}, book: newBook(p.Own)})
		}
	}
	return w
}

func (w *Watch) note(text string) {
	if w.o.Note != nil {
		w.o.Note(text)
	}
}

// Recorded tells that a Watch is of live devices.
func (w *Watch) Recorded() bool { return profile.Recorded(w.Source) }

// Close closes the files and the source.
func (w *Watch) Close() error {
	for _, s := range w.sources {
		if s.file != nil {
			s.file.close()
		}
	}
	return w.Source.Close()
}

// Read reads a tick of the source and adds readings. What cannot be read of them is noted, and ends nothing.
func (w *Watch) Read(ctx context.Context, t *profile.Tick) error {
	if err := w.Source.Read(ctx, t); err != nil {
		return err
	}
	w.holders.update(t)
	if w.listed == 0 || t.At.Sub(w.listed) >= listEvery || t.At < w.listed {
		w.listed = t.At
		w.list()
	}
	w.out = w.out[:0]
	for _, s := range w.sources {
		w.look(ctx, s, t)
	}
	for i := range w.out {
		if w.out[i].Value > 0 || !meansOnly(w.out[i].Name) {
			t.Readings = append(t.Readings, w.out[i])
		}
	}
	return nil
}

// look reads one source and adds what it says to w.out.
func (w *Watch) look(ctx context.Context, s *source, t *profile.Tick) {
	var err error
	if s.page != nil {
		err = s.page.look(ctx, t.At, s.book)
	} else {
		err = s.file.look(func(line []byte) { s.book.line(line, t.At) })
	}
	switch {
	case err != nil && errors.Is(err, fs.ErrNotExist) && s.page == nil && s.failed == "":
		s.failed = "is not there yet"
		w.note("readings: " + s.name + " is not there yet")
	case err != nil && s.failed != err.Error() && !errors.Is(err, fs.ErrNotExist):
		s.failed = err.Error()
		w.note("readings: " + err.Error())
	case err == nil:
		s.failed = ""
	}
	s.book.take(t.At, func(x *teller, name string, v float64) {
		r := profile.Reading{Name: name, Value: v}
		r.Owner, r.Device = w.holders.resolve(x, s)
		w.add(&r)
	})
}

// add adds a reading. Two sources that speak of the same name, owner and device are two ranks whose device is not
// known: what adds up is added, of the rest the mean is close enough to be the last.
func (w *Watch) add(r *profile.Reading) {
	for i := range w.out {
		x := &w.out[i]
		if x.Name == r.Name && x.Owner == r.Owner && x.Device == r.Device {
			if profile.AddsUp(r.Name) {
				x.Value += r.Value
			} else {
				x.Value = (x.Value + r.Value) / 2
			}
			return
		}
	}
	if len(w.out) < mostTold {
		w.out = append(w.out, *r)
	}
}

// meansOnly reports whether 0 says nothing under a name.
func meansOnly(name string) bool { return name == profile.ToldStep || name == profile.ToldMFU }

// list finds the files of the places.
func (w *Watch) list() {
	for i := range w.o.Places {
		p := &w.o.Places[i]
		if p.Page {
			continue
		}
		names := []string{p.Name}
		if info, err := w.o.Disk.Stat(p.Name); err == nil && info.IsDir() {
			names = w.filesOf(p.Name)
		}
		for _, name := range names {
			if !slices.ContainsFunc(w.sources, func(s *source) bool { return s.name == name }) && len(w.sources) < mostPlaces*mostFiles {
				w.sources = append(w.sources, &source{place: p, name: name, file: &follower{disk: w.o.Disk, name: name}, book: newBook(p.Own)})
			}
		}
		w.drop(p, names)
	}
}

// drop forgets files of a folder that are gone.
func (w *Watch) drop(p *Place, names []string) {
	w.sources = slices.DeleteFunc(w.sources, func(s *source) bool {
		gone := s.place == p && s.page == nil && !slices.Contains(names, s.name)
		if gone {
			s.file.close()
		}
		return gone
	})
}

// filesOf returns the newest mostFiles files of a folder, in order of their names.
func (w *Watch) filesOf(folder string) []string {
	f, err := w.o.Disk.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, err := d.ReadDir(4096)
	if err != nil && len(entries) == 0 {
		return nil
	}
	type file struct {
		name string
		at   time.Time
	}
	var all []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name()[0] != '.' {
			all = append(all, file{path.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return b.at.Compare(a.at) })
	all = all[:min(len(all), mostFiles)]
	var out []string
	for _, x := range all {
		out = append(out, x.name)
	}
	slices.Sort(out)
	return out
}

// holders is who held the devices at the last look at processes.
type holders struct {
	byPID   map[string]*holder
	byJob   map[string]profile.Owner
	devices []*profile.Device
	only    profile.Owner // of the only job on the box
}

type holder struct {
	owner  profile.Owner
	device *profile.Device
}

// update notes the devices of a tick, and its processes where it looked at them.
func (h *holders) update(t *profile.Tick) {
	h.devices = h.devices[:0]
	for i := range t.Samples {
		h.devices = append(h.devices, t.Samples[i].Device)
	}
	if !t.LookedAtProcesses {
		return
	}
	clear(h.byPID)
	clear(h.byJob)
	h.only = profile.Owner{}
	several := false
	for i := range t.Processes {
		p := &t.Processes[i]
		owner := p.Owner()
		if h.only == (profile.Owner{}) {
			h.only = owner
		} else if h.only != owner {
			several = true
		}
		pid := strconv.FormatInt(p.PID, 10)
		if x := h.byPID[pid]; x != nil {
			x.device = nil // it holds several
		} else {
			h.byPID[pid] = &holder{owner, p.Device}
		}
		if p.Job != "" {
			h.byJob[p.Job] = owner
		}
		if p.Pod != "" {
			h.byJob[p.Namespace+"/"+p.Pod] = owner
		}
	}
	if several {
		h.only = profile.Owner{}
	}
}

// resolve returns whose a figure is, and of which device it tells; nil where that is not said.
func (h *holders) resolve(t *teller, s *source) (profile.Owner, *profile.Device) {
	var device *profile.Device
	for _, d := range h.devices {
		if t.uuid != "" && d.UUID == t.uuid || t.gpu != "" && (d.UUID == t.gpu || !d.MIG() && strconv.Itoa(d.Index) == t.gpu) {
			device = d
		}
	}
	if x := h.byPID[t.pid]; x != nil {
		if device == nil {
			device = x.device
		}
		return x.owner, device
	}
	owner := s.place.Owner
	switch {
	case owner != (profile.Owner{}):
	case t.job != "" && h.byJob[t.job] != (profile.Owner{}):
		owner = h.byJob[t.job]
	case t.pod != "" && h.byJob[t.namespace+"/"+t.pod] != (profile.Owner{}):
		owner = h.byJob[t.namespace+"/"+t.pod]
	case t.pod != "":
		owner = profile.Owner{Pod: t.pod, Namespace: t.namespace}
	case t.container != "":
		owner = profile.Owner{Container: t.container}
	case s.page == nil:
		owner, device = h.ofFile(s, device)
	}
	if owner == (profile.Owner{}) {
		owner = h.only
	}
	if device == nil && t.local != "" {
		device = h.ofRank(owner, t.local)
	}
	return owner, device
}

// ofFile returns whose a file is by the numbers in its name: of a process that holds a device, or of a job. It goes on
// to hold after the process has ended.
func (h *holders) ofFile(s *source, device *profile.Device) (profile.Owner, *profile.Device) {
	numbersOf(s.name, func(n string) bool {
		if x := h.byPID[n]; x != nil {
			s.number, s.device = x.owner, x.device
			return true
		}
		if owner, ok := h.byJob[n]; ok {
			s.number, s.device = owner, nil
			return true
		}
		return false
	})
	if device == nil {
		device = s.device
	}
	return s.number, device
}

// ofRank returns the device of a local rank: the devices of the job in order of their numbers.
func (h *holders) ofRank(owner profile.Owner, local string) *profile.Device {
	k, err := strconv.Atoi(local)
	if err != nil || k < 0 {
		return nil
	}
	for _, d := range h.devices {
		if !h.holds(owner, d) {
			continue
		}
		if k == 0 {
			return d
		}
		k--
	}
	return nil
}

// holds reports whether a process of the owner was on the device alone.
func (h *holders) holds(owner profile.Owner, d *profile.Device) bool {
	for _, x := range h.byPID {
		if x.device == d && x.owner == owner {
			return true
		}
	}
	return false
}
