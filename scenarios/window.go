package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// Window is a time in which a part of a pool is under maintenance, or reserved for some tenants.
type Window struct {
	From, Until When
	GPUs        int // of whatever nodes; 0 with Nodes
	Nodes       int
	First       int            // number of the first of Nodes
	Mode        string         // "drain" or "kill"
	Announced   capcli.Seconds // so long before From; 0 is from the beginning
	Every       capcli.Seconds // repeats at this interval, to the end of the period; 0 is once
	Tenants     []string       // a reservation: who may use it
}

// maxWindows is the most windows of one pool, repeated ones included.
const maxWindows = 10_000

var maintenanceSection = strict.Section[Window]{Name: "capacity.maintenance", Start: Window{Mode: "drain"}, Needs: []string{"from", "until"}, Fields: func(w *Window) []strict.Field {
	return append([]strict.Field{
		{"nodes", "number of nodes: first to first + nodes - 1", strict.Integer(&w.Nodes, 1, maxGPUs)},
		{"first", "number of the first of these nodes, from 0", strict.Integer(&w.First, 0, maxGPUs)},
		{"mode", "drain: only jobs that end before it start; kill: jobs are stopped when it begins, the last started first", strict.Choice(&w.Mode, "mode", "drain", "kill")},
	}, windowFields(w)...)
}, Check: checkWindow}

var reservationSection = strict.Section[Window]{Name: "capacity.reservations", Start: Window{Mode: "drain"}, Needs: []string{"from", "until", "gpus", "tenants"}, Fields: func(w *Window) []strict.Field {
	return append([]strict.Field{
		{"tenants", "who may use them: [research]", strict.Names(&w.Tenants, "tenants")},
	}, windowFields(w)...)
}, Check: checkWindow}

func windowFields(w *Window) []strict.Field {
	return []strict.Field{
		{"from", "begins then: a date or a time since the start", readWhen(&w.From)},
		{"until", "ends then: a date (inclusive) or a time since the start", readWhen(&w.Until)},
		{"gpus", "number of GPUs, on any nodes", strict.Integer(&w.GPUs, 1, maxGPUs)},
		{"announced", "known this long before it begins; default: from the start of the run", strict.Duration(&w.Announced, 1)},
		{"every", "repeats at this interval, to the end of the period", strict.Duration(&w.Every, 1)},
	}
}

// checkWindow checks the fields of a window together.
func checkWindow(o *strict.Object, w *Window) {
	switch {
	case o.Has("gpus") && o.Has("nodes"):
		o.FaultName("nodes", "gpus and nodes both say what is taken; leave one out")
	case !o.Has("gpus") && !o.Has("nodes"):
		o.FaultMissing("gpus", "what is taken is missing: gpus: 8, or nodes: 2")
	case o.Has("first") && !o.Has("nodes"):
		o.FaultName("first", "first goes with nodes")
	}
	if !o.IsClean("from", "until") || w.From.Date.IsKnown() != w.Until.Date.IsKnown() {
		return
	}
	length := w.Until.offset(w.From.Date) - w.From.After
	if !w.From.Date.IsKnown() {
		length = w.Until.After - w.From.After
	}
	switch {
	case length <= 0:
		o.Fault("until", "until is not after from")
	case o.Has("every") && w.Every < length:
		o.Fault("every", "it comes again after %s, before it has ended after %s", w.Every, length)
	}
}

// checkWindows checks the windows of a pool against its size and the period.
func (s *Scenario) checkWindows(d *strict.Decoder, c *Capacity, pool *yaml.Node) {
	for _, list := range []struct {
		name    string
		windows []Window
	}{{"maintenance", c.Maintenance}, {"reservations", c.Reservations}} {
		at := strict.Child(pool, list.name)
		if at == nil || at.Kind != yaml.SequenceNode {
			continue
		}
		for i := range min(len(list.windows), len(at.Content)) {
			w, n := &list.windows[i], at.Content[i]
			switch size := c.GPUs + c.Nodes*c.GPUsPerNode; {
			case c.NodesFile != "":
				d.Fault(n, "%s is of a pool with gpus or nodes; this one comes from nodes_file", list.name)
			case size > 0 && w.GPUs > size:
				d.Fault(n, "it takes %d GPUs; the pool has %d", w.GPUs, size)
			case w.Nodes > 0 && w.First+w.Nodes > c.Nodes:
				d.Fault(n, "it takes nodes %d to %d; the pool has %d, from 0", w.First, w.First+w.Nodes-1, c.Nodes)
			case !s.Period.IsKnown() && (w.From.Date.IsKnown() || w.Until.Date.IsKnown()):
				d.Fault(n, "it has a date, but there is no period that says when the run starts; give period, or write times since the start such as 30d")
			case !s.Period.IsKnown() && w.Every > 0:
				d.Fault(n, "every repeats it to the end of the period; give period")
			case w.Every > 0 && s.Period.Length()/w.Every > maxWindows:
				d.Fault(n, "it comes over %d times", maxWindows)
			}
		}
		if list.name == "reservations" {
			s.checkSharers(d, list.windows, at)
		}
	}
}

// checkSharers refuses two reservations of a tenant that overlap: what it holds could be counted for
// either.
func (s *Scenario) checkSharers(d *strict.Decoder, list []Window, at *yaml.Node) {
	for i := range list {
		for k := range i {
			if slices.ContainsFunc(list[i].Tenants, func(t string) bool { return slices.Contains(list[k].Tenants, t) }) && s.overlap(&list[i], &list[k]) {
				d.Fault(at.Content[i], "a tenant of it has another reservation of this pool at the same time; make them one")
			}
		}
	}
}

// overlap reports whether two windows share an instant.
func (s *Scenario) overlap(a, b *Window) bool {
	for _, x := range s.repeat(a) {
		for _, y := range s.repeat(b) {
			if x.Start < y.End && y.Start < x.End {
				return true
			}
		}
	}
	return false
}

// repeat returns w each time that it comes.
func (s *Scenario) repeat(w *Window) (out []simulate.Window) {
	x := simulate.Window{
		Start: w.From.offset(s.Period.Start), End: w.Until.offset(s.Period.Start), Milli: 1000 * int64(w.GPUs),
		Nodes: w.Nodes, FirstNode: w.First, Lead: w.Announced, Kill: w.Mode == "kill", For: w.Tenants,
	}
	for {
		if x.End > 0 {
			out = append(out, x)
		}
		if w.Every == 0 || x.Start+w.Every >= s.Period.Length() || len(out) >= maxWindows {
			return out
		}
		x.Start, x.End = x.Start+w.Every, x.End+w.Every
	}
}

// windows returns the windows of a pool in a run.
func (s *Scenario) windows(c *Capacity) (out []simulate.Window) {
	for i := range c.Maintenance {
		out = append(out, s.repeat(&c.Maintenance[i])...)
	}
	for i := range c.Reservations {
		out = append(out, s.repeat(&c.Reservations[i])...)
	}
	return out
}
