package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"capcli/profile"
)

// Folder is a directory of samples on a disk.
type Folder struct {
	Name string // as the user wrote it, for messages
	Disk Disk   // nil is System
	Root string // the directory on the disk
}

// Folders reads several directories as one. What several of them hold of a GPU at one time counts once.
type Folders struct {
	all       []Folder // by name, so that their order tells nothing
	overlaps  []*overlap
	sameNames []profile.SameName
}

// OpenFolders returns a reader of the directories all.
func OpenFolders(all []Folder) *Folders {
	f := &Folders{all: slices.Clone(all)}
	slices.SortStableFunc(f.all, func(a, b Folder) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// Ticks returns the ticks of all directories, as Reader.Ticks does of one. The ticks of a box that
// several directories hold come in the order of their times. Where they hold the same instant of the
// same GPU, that of the directory whose name is first counts.
//
// Boxes of one host name that have different GPUs at the same time are different boxes: all but the
// first have the directory's name in their host.
func (f *Folders) Ticks(q Query) iter.Seq2[HostTick, error] {
	return func(yield func(HostTick, error) bool) {
		f.overlaps = nil
		boxes, err := f.boxes(q)
		if err != nil {
			yield(HostTick{}, err)
			return
		}
		for _, b := range boxes {
			if going, err := f.ticksOf(b, q, yield); err != nil {
				yield(HostTick{}, err)
				return
			} else if !going {
				return
			}
		}
	}
}

// hostBox is one host and the directories that hold its ticks.
type hostBox struct {
	host string // its name in the directories
	name string // its name in answers
	in   []Folder
}

// boxes returns the boxes of a query, by host and name.
func (f *Folders) boxes(q Query) ([]hostBox, error) {
	f.sameNames = nil
	var hosts []string
	in := map[string][]Folder{}
	wide := f.inNames(q)
	for _, d := range f.all {
		all, err := OpenDir(d.Disk, d.Root).hosts(wide)
		if err != nil {
			return nil, d.wrap(err)
		}
		for _, host := range all {
			if in[host] == nil {
				hosts = append(hosts, host)
			}
			in[host] = append(in[host], d)
		}
	}
	slices.Sort(hosts)
	var out []hostBox
	for _, host := range hosts {
		boxes, err := separate(host, in[host], q)
		if err != nil {
			return nil, err
		}
		for _, b := range boxes {
			if len(q.Hosts) == 0 || slices.Contains(q.Hosts, host) || slices.Contains(q.Hosts, b.name) {
				out = append(out, b)
			}
		}
		if len(boxes) > 1 {
			same := profile.SameName{Host: host}
			for _, b := range boxes {
				same.Names = append(same.Names, b.name)
			}
			f.sameNames = append(f.sameNames, same)
		}
	}
	return out, nil
}

// inNames adds to the hosts of a query those whose boxes may be called so: "box" for "box (DIR)".
func (f *Folders) inNames(q Query) Query {
	all := slices.Clone(q.Hosts)
	for _, want := range q.Hosts {
		for _, d := range f.all {
			if host, ok := strings.CutSuffix(want, " ("+d.Name+")"); ok {
				all = append(all, host)
			}
		}
	}
	q.Hosts = all
	return q
}

// wrap adds the directory to an error that does not name its file.
func (d *Folder) wrap(err error) error {
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return err
}

// separate tells the boxes of one host name apart.
func separate(host string, in []Folder, q Query) ([]hostBox, error) {
	boxes := []hostBox{{host, host, in[:1]}}
	for _, d := range in[1:] {
		own := -1
		for i := range boxes {
			other, err := haveOtherGPUs(host, boxes[i].in[0], d, q)
			if err != nil {
				return nil, err
			}
			if !other {
				own = i
				break
			}
		}
		if own < 0 {
			boxes = append(boxes, hostBox{host, host + " (" + d.Name + ")", nil})
			own = len(boxes) - 1
		}
		boxes[own].in = append(boxes[own].in[:len(boxes[own].in):len(boxes[own].in)], d)
	}
	return boxes, nil
}

// nearTime is how far apart two ticks may be that tell whether two directories hold the same box.
const nearTime = profile.Instant(3_600_000_000)

// haveOtherGPUs tells whether two directories hold different boxes of one name: at the same time, the
// GPU of some number is another.
func haveOtherGPUs(host string, a, b Folder, q Query) (bool, error) {
	var at [2]profile.Instant
	gpus := [2]map[int]string{}
	from := q.From
	for range 2 { // the later of their beginnings, and then what both have there
		for i, d := range [...]Folder{a, b} {
			var err error
			if at[i], gpus[i], err = firstGPUs(host, d, from, q); err != nil || gpus[i] == nil {
				return false, err
			}
		}
		from = max(at[0], at[1])
	}
	if at[0] > at[1]+nearTime || at[1] > at[0]+nearTime {
		return false, nil
	}
	for index, uuid := range gpus[0] {
		if other := gpus[1][index]; other != "" && other != uuid {
			return true, nil
		}
	}
	return false, nil
}

// firstGPUs returns the UUIDs of a box's GPUs by their numbers, in the first tick from an instant on
// that has samples; nil where there is none.
func firstGPUs(host string, d Folder, from profile.Instant, q Query) (at profile.Instant, gpus map[int]string, err error) {
	q = Query{From: from, To: q.To, Hosts: []string{host}, SamplesOnly: true}
	for t, err := range OpenDir(d.Disk, d.Root).Ticks(q) {
		if err != nil {
			return 0, nil, d.wrap(err)
		}
		if len(t.Samples) == 0 {
			continue
		}
		gpus = map[int]string{}
		for i := range t.Samples {
			if g := t.Samples[i].Device; g.MIG() && g.Parent != "" {
				gpus[g.Index] = g.Parent
			} else {
				gpus[g.Index] = g.UUID
			}
		}
		return t.At, gpus, nil
	}
	return 0, nil, nil
}
