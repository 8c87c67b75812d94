package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/forecast"
	"capcli/profile"
	"capcli/profile/demand"
	"capcli/profile/series"
	"capcli/profile/store"
)

// profileMeasures are what --measure takes of a folder that capcli profile wrote.
// What is held is usage; demand, the default, is not seen there and means usage.
var profileMeasures = map[string]profile.LevelMeasure{
	"demand": profile.LevelHeld, "usage": profile.LevelHeld, "held": profile.LevelHeld,
	"busy": profile.LevelBusy, "sm": profile.LevelSM, "power": profile.LevelPower,
}

// measured is what --past-capacity takes for the GPUs that a profile saw.
const measured = "measured"

// folders gives those of args that are folders.
func folders(e *env, args []string) []string {
	var out []string
	for _, name := range args {
		if info, err := e.disk.stat(name); err == nil && info.IsDir() {
			out = append(out, name)
		}
	}
	return out
}

// checkProfile refuses flags that a profile cannot follow.
func (o *historyOptions) checkProfile(dir string) error {
	m, known := profileMeasures[o.measure]
	c := &o.censor
	switch {
	case !known:
		return &usageError{text: fmt.Sprintf("%s is a folder of GPU samples, which does not know --measure %s", dir, o.measure), hint: "--measure usage, busy, sm or power"}
	case o.agg != "":
		return &usageError{text: dir + " is a folder of GPU samples, whose steps are means; --agg is for tables", hint: "for peaks give --peak"}
	case c.pendingCol != "" || c.capacityCol != "" && c.limit.file == "":
		return &usageError{text: "--pending-col and --capacity-col are for tables, not for a folder of GPU samples", hint: "--past-capacity " + measured}
	case c.asked() && m != profile.LevelHeld:
		return &usageError{text: "a past capacity says what held usage down, and --measure is " + o.measure, hint: "--measure usage, or leave the capacity out"}
	case c.asked() && o.peak:
		return &usageError{text: "demand is not told from peaks of usage", hint: "leave --peak out, or --past-capacity"}
	}
	for _, k := range o.by {
		if !slices.Contains([]string{"host", "gpu_model", "tenant", demand.TotalName}, k) {
			return &usageError{text: fmt.Sprintf("%s is a folder of GPU samples, which does not know --by %s", dir, k), hint: "--by host, gpu_model, tenant or total"}
		}
	}
	return nil
}

// fromProfiles sums what capcli profile recorded.
func (o *historyOptions) fromProfiles(ctx context.Context, e *env, dirs []string) (*demand.Histories, error) {
	if err := o.checkProfile(dirs[0]); err != nil {
		return nil, err
	}
	groups := newGrouper(o.by, o.tree.total)
	l := &profile.Levels{Measure: profileMeasures[o.measure], Step: o.steps, Zone: o.zone, Peaks: o.peak, Groups: groups.ofPart, Places: groups.ofPlace}
	if o.step == "" {
		l.Step = capcli.Step{Seconds: capcli.Hour}
	}
	if err := o.readProfiles(ctx, e, l, dirs); err != nil {
		return nil, err
	}
	grid, n := l.Range()
	switch {
	case l.Hosts() == 0:
		return nil, &capcli.InputError{File: dirs[0], Text: "expected samples of GPUs, found none", Hint: "is it a folder that capcli profile wrote, and do --from and --to leave any?"}
	case n < 2:
		return nil, &capcli.InputError{File: dirs[0], Text: fmt.Sprintf("expected samples of at least two whole steps of %s, found %d", l.Step, n), Hint: "take a shorter --step"}
	}
	return o.ofLevels(l, grid, groups, dirs)
}

func (o *historyOptions) readProfiles(ctx context.Context, e *env, l *profile.Levels, dirs []string) error {
	q, _, err := (&queryOptions{from: o.prom.from, to: o.prom.to, tz: o.read.tz}).query()
	if err != nil {
		return err
	}
	q.SamplesOnly = l.Measure != profile.LevelHeld && !slices.Contains(o.by, "tenant")
	p := newProgress(e, "ticks")
	n := int64(0)
	for _, dir := range dirs {
		for t, err := range store.OpenDir(nil, dir).Ticks(q) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if errors.Is(err, store.ErrChanged) {
				return fmt.Errorf("%s: %w", dir, err)
			}
			if err == nil {
				err = l.Add(t.Host, t.Tick)
			}
			if errors.Is(err, profile.ErrTooManySteps) {
				return &capcli.InputError{File: dir, Text: err.Error(), Hint: "take a longer --step, or fewer groups with --by", Err: err}
			}
			if err != nil {
				return err
			}
			n++
			p.at(n, 0)
		}
		if err := l.Check(); err != nil {
			return &capcli.InputError{File: dir, Text: err.Error(), Hint: "give each box's samples once", Err: err}
		}
	}
	p.end(n)
	return nil
}

// ofPart gives the groups of what a tenant holds of a device.
func (g *grouper) ofPart(host string, d *profile.Device, tenant string) []string {
	if tenant == "" {
		tenant = "(nobody)"
	}
	return g.of(&capcli.Job{Partition: host, GPUModel: d.Model, Tenant: tenant})
}

// ofPlace gives those of a device's groups that do not ask for the tenant.
func (g *grouper) ofPlace(host string, d *profile.Device) []string {
	var out []string
	for _, name := range g.of(&capcli.Job{Partition: host, GPUModel: d.Model}) {
		t := g.tiers[name]
		if t.key == -2 || t.key >= 0 && g.names[t.key] != "tenant" || t.key == -1 && !slices.Contains(g.names, "tenant") {
			out = append(out, name)
		}
	}
	return out
}

// ofLevels makes the histories of what was summed: a table, whose gaps are
// treated as those of other tables.
func (o *historyOptions) ofLevels(l *profile.Levels, grid capcli.Grid, groups *grouper, dirs []string) (*demand.Histories, error) {
	names := l.Names()
	levels, made := map[string]profile.Level{}, map[string]*demand.History{}
	for _, name := range names {
		levels[name], made[name] = l.Of(name), &demand.History{Group: name}
	}
	named := &demand.Histories{Peak: o.peak}
	groups.arrange(named, made)
	b := series.NewBuilder(series.Options{Name: dirs[0]}, []string{"unique_id", "ds", "y"}, series.Columns{IDs: []int{0}, Time: 1, Value: 2})
	row := 0
	for _, h := range named.List {
		for i, v := range levels[h.Group].Values {
			row++
			if err := b.Instant(row, []byte(h.Name), int64(grid.At(i)), v); err != nil {
				return nil, err
			}
		}
	}
	table, err := b.Table()
	if err != nil {
		return nil, err
	}
	regular, err := table.Regular(series.Rules{Gaps: series.Gaps(o.gaps), Zone: o.zone})
	if err != nil {
		return nil, err
	}
	hs := named
	hs.Inputs, hs.Zone, hs.Clock, hs.Step, hs.Unit, hs.FormatStamp = dirs, o.zone, true, l.Step, "GPUs", stepStamps(l.Step, o.zone)
	hs.Measure = o.measure
	switch l.Measure {
	case profile.LevelHeld:
		hs.Measure = "usage"
	case profile.LevelPower:
		hs.Unit = "W"
	case profile.LevelBusy, profile.LevelSM:
	}
	for i, h := range hs.List {
		h.Set, h.Regular, h.Warnings = hs, regular[i], regular[i].Notes
		h.Grid = grid // of days and months that were asked for
		if o.censor.asked() {
			h.Censoring = &demand.Censoring{Fine: h.Regular, Limit: o.thereOf(levels[h.Group], len(h.Values))}
		}
	}
	hs.Notes = append(hs.Notes, o.profileNotes(l, hs, levels)...)
	return hs, nil
}

// thereOf is the capacity that was measured, where it is asked for and known.
func (o *historyOptions) thereOf(v profile.Level, n int) []float64 {
	if !o.censor.limit.measured || v.There == nil {
		return nil
	}
	return v.There[:n:n]
}

// stepStamps gives stamps as the steps are: dates of days and longer, else times.
func stepStamps(s capcli.Step, in *time.Location) func(int64) string {
	return func(stamp int64) string {
		if s.Days == 0 && s.Months == 0 {
			return capcli.Time(stamp).String()
		}
		return time.Unix(stamp, 0).In(utcOr(in)).Format("2006-01-02")
	}
}

// profileNotes are what the reader must know of how the history came about.
func (o *historyOptions) profileNotes(l *profile.Levels, hs *demand.Histories, levels map[string]profile.Level) []string {
	var out []string
	byTenant := slices.Contains(o.by, "tenant")
	if l.Guessed && (l.Measure == profile.LevelHeld || byTenant) {
		out = append(out, "some samples came without processes: there a GPU with over 2% of its memory in use counts as held")
	}
	scaled, steps := 0, 0
	var full []string
	for _, h := range hs.List {
		v := levels[h.Group]
		if v.Scaled > scaled {
			scaled, steps = v.Scaled, len(v.Values)
		}
		if at := atCapacity(v); at > 0 && l.Measure == profile.LevelHeld && !o.peak {
			full = append(full, fmt.Sprintf("%s in %s of %s", h.Name, grouped(int64(at)), grouped(int64(len(v.Values)))))
		}
	}
	if scaled > 0 {
		out = append(out, fmt.Sprintf("%s of %s steps were sampled in part, over half of them: what was not sampled counts as what was", grouped(int64(scaled)), grouped(int64(steps))))
	}
	if late := l.Late(); len(late) > 0 {
		out = append(out, fmt.Sprintf("%d of %d boxes were not there all the time, such as %s: before its first sample and after its last a box counts as not there", len(late), l.Hosts(), strings.Join(capcli.Abridge(late, 3), ", ")))
	}
	if len(full) > 0 && !o.censor.asked() {
		out = append(out, fmt.Sprintf("all GPUs were held: %s steps. What more was wanted then is not in these figures; --past-capacity %s tells it from the other steps", strings.Join(capcli.Abridge(full, 3), ", "), measured))
	}
	if o.peak {
		out = append(out, "the highest level of a step is the highest mean of five minutes in it")
	}
	if l.Measure == profile.LevelBusy {
		out = append(out, `"busy" is NVML's GPU utilisation: a kernel was running. It does not say how much of the GPU worked; --measure sm does`)
	}
	return out
}

// atCapacity counts the steps in which all that was there was held.
func atCapacity(v profile.Level) int {
	n := 0
	for i, t := range v.There {
		if t > 0 && v.Values[i] >= forecast.NearLimit*t {
			n++
		}
	}
	return n
}
