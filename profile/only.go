package profile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// OnlyGPUs returns a source of some of the GPUs of src, with their MIG instances. names are their numbers or
// UUIDs. Its first Read fails with *capcli.RequestError where a name is none of a GPU there.
func OnlyGPUs(src Source, names []string) Source {
	return &someGPUs{Source: src, names: names, keep: map[string]bool{}}
}

// someGPUs is a Source of some of the GPUs of another.
type someGPUs struct {
	Source
	names   []string
	keep    map[string]bool // devices met, by UUID
	checked bool
}

// Recorded reports whether the source behind it is a recording.
func (s *someGPUs) Recorded() bool { return Recorded(s.Source) }

// named reports whether the device, or the GPU that holds it, is called name.
func (d *Device) named(name string) bool {
	return name == d.UUID || d.Parent != "" && name == d.Parent || name == strconv.Itoa(d.Index)
}

// Read reads a tick and drops what belongs to other GPUs.
func (s *someGPUs) Read(ctx context.Context, t *Tick) error {
	if err := s.Source.Read(ctx, t); err != nil {
		return err
	}
	if !s.checked && len(t.Samples) > 0 {
		s.checked = true
		if err := s.check(t); err != nil {
			return err
		}
	}
	t.Samples = slices.DeleteFunc(t.Samples, func(x Sample) bool { return !s.keeps(x.Device) })
	t.Processes = slices.DeleteFunc(t.Processes, func(p Process) bool { return !s.keeps(p.Device) })
	t.Events = slices.DeleteFunc(t.Events, func(e Event) bool {
		kept, met := s.keep[e.Device]
		return met && !kept
	})
	return nil
}

func (s *someGPUs) keeps(d *Device) bool {
	kept, met := s.keep[d.UUID]
	if !met {
		kept = slices.ContainsFunc(s.names, d.named)
		s.keep[d.UUID] = kept
	}
	return kept
}

// check fails where a name is none of a GPU in t.
func (s *someGPUs) check(t *Tick) error {
	for _, name := range s.names {
		if slices.ContainsFunc(t.Samples, func(x Sample) bool { return x.Device.named(name) }) {
			continue
		}
		var there []string
		for i := range t.Samples {
			there = append(there, strconv.Itoa(t.Samples[i].Device.Index))
		}
		return &capcli.RequestError{Field: "gpu", Text: fmt.Sprintf("wants GPUs that are here (%s) or their UUIDs, found %q", strings.Join(slices.Compact(there), ", "), name)}
	}
	return nil
}
