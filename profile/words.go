package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile/judge"
)

// uncounted are the verdicts that the lead of a summary does not count.
var uncounted = []judge.Kind{judge.Working, judge.ComputeBound, judge.Unknown, judge.TooShort, judge.Idle}

// Lead returns the most important results in at most three sentences.
func (r *Result) Lead() string {
	total := r.Total.Use
	if total.Seen == 0 {
		return "No samples."
	}
	hosts, whole, divided, instances := map[string]bool{}, map[[2]string]bool{}, map[[2]string]bool{}, int64(0)
	verdicts := map[judge.Kind]int{}
	for i := range r.GPUs {
		g := &r.GPUs[i]
		hosts[g.Host] = true
		whole[[2]string{g.Host, cmp.Or(g.Parent, g.UUID)}] = true
		if g.Parent != "" {
			divided[[2]string{g.Host, g.Parent}] = true
			instances++
		}
		if !g.Divided {
			verdicts[g.Verdict]++
		}
	}
	where := r.GPUs[0].Host
	if len(hosts) > 1 {
		where = fmt.Sprintf("%d boxes", len(hosts))
	}
	n := int64(len(whole))
	gpus := fmt.Sprintf("%d %s", n, capcli.Plural(n, "GPU"))
	if instances > 0 {
		gpus += fmt.Sprintf(", %d of them divided into %d MIG %s,", len(divided), instances, capcli.Plural(instances, "instance"))
	}
	text := fmt.Sprintf("%s on %s, %s: held %.1f%% of the time", gpus, where, r.Span().Round(time.Second), 100*float64(total.Held)/float64(total.Seen))
	if busy := total.BusyShare(); !math.IsNaN(busy) {
		text += fmt.Sprintf(", busy %.1f%%", 100*busy)
	}
	text += "."
	var found []string
	for _, d := range judge.Descriptions {
		k := d.Kind
		if n := verdicts[k]; n > 0 && !slices.Contains(uncounted, k) {
			found = append(found, fmt.Sprintf("%d %s", n, d.Count))
		}
	}
	if len(found) > 0 {
		text += " " + strings.Join(found, ", ") + "."
	}
	if r.Total.IdleCost != nil {
		text += fmt.Sprintf(" Held and idle: %s, %s a month at this rate.", r.Total.IdleCost, r.Total.IdleCostPer)
	}
	return text
}

// namedEvents is the most events in the notes.
const namedEvents = 12

// gravestKinds are the kinds of events in the notes.
var gravestKinds = []EventKind{Xid, ECCError, GPULost, Stalled, DriverGone, GaveUp, ClockJump, MIGChanged, Recovered}

// Notes returns remarks that a reader needs to understand the results.
func (r *Result) Notes() []string {
	var out []string
	total := r.Total.Use
	if total.Util.Micros > 0 {
		out = append(out, `"busy" is NVML's GPU utilisation: a kernel was running. It does not say how much of the GPU worked; SM and tensor do.`)
	}
	if total.SM.Micros == 0 && total.Seen > 0 {
		out = append(out, "SM and tensor activity were not reported: they need a Hopper GPU or later, or a source such as dcgm with profiling fields (capcli doctor)")
	}
	if slices.ContainsFunc(r.GPUs, func(g GPUResult) bool { return g.Device.MIG() }) {
		out = append(out, "a MIG instance counts as its share of a GPU, of its compute or its memory, whichever is more; what no instance has is free")
	}
	if r.Guessed {
		out = append(out, "the source reports no processes: a GPU with over 2% of its memory in use counts as held")
	}
	out = append(out, FolderNotes(r.Overlaps, r.SameNames)...)
	if text := r.fitsNote(); text != "" {
		out = append(out, text)
	}
	if total.Shared > 0 {
		out = append(out, fmt.Sprintf("%.1f GPU-hours were held by more than one job: they are divided evenly, and activity, power and memory of a GPU cannot be split by job", float64(total.Shared)/3.6e9))
	}
	if r.Summary.Gaps > 0 {
		out = append(out, fmt.Sprintf("%s were not sampled and count as unobserved", capcli.Seconds(r.Summary.Gaps/1e6)))
	}
	if total.ByPower {
		out = append(out, "some energy is summed from power, because there is no counter; sensors sample part of the time, so it may be off by some percent")
	}
	out = append(out, r.Summary.machineNotes()...)
	out = append(out, r.worthNotes()...)
	found := 0
	for _, e := range r.Events {
		if !slices.Contains(gravestKinds, e.Kind) {
			continue
		}
		if found++; found <= namedEvents {
			out = append(out, fmt.Sprintf("%s %s: %s %s", e.At, e.Host, e.words(), e.Text))
		}
	}
	if found > namedEvents {
		out = append(out, fmt.Sprintf("%d more events: --table events", found-namedEvents))
	}
	return out
}

// namedFolders is the most boxes that a note on folders names.
const namedFolders = 3

// FolderNotes returns remarks on boxes that several folders hold, and on those that share a name.
func FolderNotes(overlaps []Overlap, names []SameName) []string {
	var out, found []string
	ticks := int64(0)
	for _, o := range overlaps {
		ticks += o.Ticks
		found = append(found, fmt.Sprintf("%s from %s to %s in %s", o.Host, o.From, o.To, strings.Join(o.Folders, ", ")))
	}
	if len(found) > 0 {
		out = append(out, fmt.Sprintf("%s %s are in several folders and count once: %s", capcli.Grouped(ticks), capcli.Plural(ticks, "tick"), strings.Join(capcli.Abridge(found, namedFolders), "; ")))
	}
	found = nil
	for _, s := range names {
		found = append(found, fmt.Sprintf("%d boxes are called %s: %s", len(s.Names), s.Host, strings.Join(s.Names, ", ")))
	}
	if len(found) > 0 {
		out = append(out, strings.Join(capcli.Abridge(found, namedFolders), "; ")+"; their GPUs at the same time are different, so they are kept apart")
	}
	return out
}

// words returns the event's kind and device in words.
func (e *HostEvent) words() string {
	text := string(e.Kind)
	if e.Kind == Xid {
		text = fmt.Sprintf("Xid %d", e.Value)
	}
	if e.Device != "" {
		text += " on " + e.Device
	}
	return text
}

// fitsNote returns a sentence on the GPU-hours that would be freed if each job ran on the smallest
// hardware that it fits, or "" if none would be.
func (r *Result) fitsNote() string {
	jobs, freed, reserved := int64(0), 0.0, int64(0)
	for i := range r.Jobs {
		f := &r.Jobs[i].Fits
		if r.Jobs[i].Kind == "unknown" {
			continue
		}
		if f.Why == nil && f.Reserved && f.Slice == nil && f.Model == nil {
			reserved++
		}
		if h := float64(f.Freed); h > 0 {
			jobs, freed = jobs+1, freed+h
		}
	}
	if jobs == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s would fit a MIG slice or a smaller GPU, which frees %.1f GPU-hours (--table fits)", capcli.Grouped(jobs), capcli.Plural(jobs, "job"), freed)
	if reserved > 0 {
		text += fmt.Sprintf("; of %s %s more, memory looks reserved by an allocator: what is in use is as much as is needed or more", capcli.Grouped(reserved), capcli.Plural(reserved, "job"))
	}
	return text
}

// Text returns the smaller hardware that the job fits in words, or "" if it is unknown.
func (f *FitResult) Text() string {
	switch {
	case f.Why != nil:
		return ""
	case f.Slice != nil && f.Model != nil:
		return "MIG " + *f.Slice + " or " + *f.Model
	case f.Slice != nil:
		return "MIG " + *f.Slice
	case f.Model != nil:
		return *f.Model
	}
	return "nothing smaller"
}

// Binding returns the resource that rules out the next smaller candidate, or "".
func (f *FitResult) Binding() string {
	if f.Binds == nil {
		return ""
	}
	return string(*f.Binds)
}

// Note returns why the fit is unknown or uncertain, or "".
func (f *FitResult) Note() string {
	switch {
	case f.Why != nil:
		return *f.Why
	case f.Reserved:
		return "memory looks reserved by its allocator: it may need less"
	case f.ByUtil:
		return "SM was not reported: the time a kernel ran stands in, which is more"
	}
	return ""
}

// WeekdayHours holds the share of time in which GPUs were busy, 0..1, in each hour of a weekday;
// NaN for an hour without samples.
type WeekdayHours struct {
	Day  time.Weekday
	Busy []float64
}

// BusyHours returns the weekdays with samples, from Monday.
func (s *Summary) BusyHours() []WeekdayHours {
	var out []WeekdayHours
	for i := range 7 {
		day := WeekdayHours{time.Weekday((i + 1) % 7), make([]float64, 24)}
		seen := false
		for hour, c := range s.Heat[day.Day] {
			day.Busy[hour] = c.BusyShare()
			seen = seen || c.Util.Micros > 0
		}
		if seen {
			out = append(out, day)
		}
	}
	return out
}

// Label returns the number of a device, and for a MIG instance its profile and GPU instance too.
func (d *Device) Label() string {
	if !d.MIG() {
		return fmt.Sprint(d.Index)
	}
	return fmt.Sprintf("%d %s #%d", d.Index, d.Profile, d.GI)
}
