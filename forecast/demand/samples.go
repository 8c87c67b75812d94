package demand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/series"
	"capcli/profile/store"
)

// sampleMeasures are the measures of a folder that capcli profile wrote, by their names. Usage is
// the GPUs held. Samples do not show demand, the default, which therefore means usage.
var sampleMeasures = map[string]profile.LevelMeasure{
	"demand": profile.LevelHeld, "usage": profile.LevelHeld, "held": profile.LevelHeld,
	"busy": profile.LevelBusy, "sm": profile.LevelSM, "power": profile.LevelPower,
}

// checkSamples returns an error for a setting that does not apply to a folder of GPU samples.
func (r *reader) checkSamples(dir string) error {
	m, known := sampleMeasures[r.Measure]
	switch {
	case !known:
		return &capcli.RequestError{Text: fmt.Sprintf("%s is a folder of GPU samples, which does not know --measure %s", dir, r.Measure), Hint: "--measure usage, busy, sm or power"}
	case r.Combine != "":
		return &capcli.RequestError{Text: dir + " is a folder of GPU samples, whose steps are means; --agg is for tables", Hint: "for peaks give --peak"}
	case r.PendingColumn != "" || r.CapacityColumn != "" && r.Past.File == "":
		return &capcli.RequestError{Text: "--pending-col and --capacity-col are for tables, not for a folder of GPU samples", Hint: "--past-capacity " + measuredText}
	case r.censored() && m != profile.LevelHeld:
		return &capcli.RequestError{Text: "a past capacity limits usage, and --measure is " + r.Measure, Hint: "--measure usage, or leave the capacity out"}
	case r.censored() && r.Peak:
		return &capcli.RequestError{Text: "demand cannot be estimated from peaks of usage", Hint: "leave --peak out, or --past-capacity"}
	}
	for _, k := range r.By {
		if !slices.Contains([]string{"host", "gpu_model", "tenant", TotalName}, k) {
			return &capcli.RequestError{Text: fmt.Sprintf("%s is a folder of GPU samples, which does not know --by %s", dir, k), Hint: "--by host, gpu_model, tenant or total"}
		}
	}
	return nil
}

// readSamples adds up the samples in folders that capcli profile wrote to histories by group.
func (r *reader) readSamples(ctx context.Context, dirs []string) (*Histories, error) {
	if err := r.checkSamples(dirs[0]); err != nil {
		return nil, err
	}
	groups := newGrouper(r.By, r.Total)
	l := &profile.Levels{Measure: sampleMeasures[r.Measure], Step: r.Step, Zone: r.Trace.TZ, Peaks: r.Peak, Groups: groups.partKeys, Places: groups.placeKeys}
	if !r.stepped() {
		l.Step = capcli.Step{Seconds: capcli.Hour}
	}
	notes, err := r.addSamples(ctx, l, dirs)
	if err != nil {
		return nil, err
	}
	grid, n := l.Range()
	switch {
	case l.Hosts() == 0:
		return nil, &capcli.InputError{File: dirs[0], Text: "expected samples of GPUs, found none", Hint: "is it a folder that capcli profile wrote, and do --from and --to leave any?"}
	case n < 2:
		return nil, &capcli.InputError{File: dirs[0], Text: fmt.Sprintf("expected samples of at least two whole steps of %s, found %d", l.Step, n), Hint: "take a shorter --step"}
	}
	hs, err := r.fromLevels(l, grid, groups, dirs)
	if err == nil {
		hs.Notes = append(hs.Notes, notes...)
	}
	return hs, err
}

// addSamples adds the samples of all folders to l, as of one: what several hold counts once. It
// returns remarks on that.
func (r *reader) addSamples(ctx context.Context, l *profile.Levels, dirs []string) (notes []string, err error) {
	var q store.Query
	if q.From, q.To, err = profile.ParseSpan(r.From, r.To, r.Trace.TZ); err != nil {
		return nil, err
	}
	q.SamplesOnly = l.Measure != profile.LevelHeld && !slices.Contains(r.By, "tenant")
	var all []store.Folder
	for _, dir := range dirs {
		folder := store.Folder{Name: dir, Root: dir}
		if r.src.Folder != nil {
			if folder, err = r.src.Folder(dir); err != nil {
				return nil, err
			}
		}
		all = append(all, folder)
	}
	folders := store.OpenFolders(all)
	at, end := r.src.progress("ticks")
	n := int64(0)
	for t, err := range folders.Ticks(q) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = l.Add(t.Host, t.Tick)
		}
		if errors.Is(err, profile.ErrTooManySteps) {
			return nil, &capcli.InputError{File: dirs[0], Text: err.Error(), Hint: "take a longer --step, or fewer groups with --by", Err: err}
		}
		if err != nil {
			return nil, err
		}
		n++
		at(n)
	}
	end(n)
	if err := l.Check(); err != nil {
		return nil, &capcli.InputError{File: dirs[0], Text: err.Error(), Hint: "give each box's samples once", Err: err}
	}
	return folders.Notes(), nil
}

// fromLevels returns the histories of the groups in l. It treats their gaps as those of a table.
func (r *reader) fromLevels(l *profile.Levels, grid capcli.Grid, groups *grouper, dirs []string) (*Histories, error) {
	names := l.Names()
	levels, made := map[string]profile.Level{}, map[string]*History{}
	for _, name := range names {
		levels[name], made[name] = l.GroupLevel(name), &History{group: name}
	}
	named := &Histories{Peak: r.Peak}
	groups.arrange(named, made)
	b := series.NewBuilder(series.Options{Name: dirs[0]}, []string{"unique_id", "ds", "y"}, series.Columns{IDs: []int{0}, Time: 1, Value: 2})
	row := 0
	for _, h := range named.List {
		for i, v := range levels[h.group].Values {
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
	regular, err := table.Regular(series.Rules{Gaps: r.Gaps, Zone: r.Trace.TZ})
	if err != nil {
		return nil, err
	}
	hs := named
	hs.Inputs, hs.Zone, hs.Clock, hs.Step, hs.Unit, hs.FormatStamp = dirs, r.Trace.TZ, true, l.Step, "GPUs", stampFormat(l.Step, r.Trace.TZ)
	hs.Measure = r.Measure
	switch l.Measure {
	case profile.LevelHeld:
		hs.Measure = "usage"
	case profile.LevelPower:
		hs.Unit = "W"
	case profile.LevelBusy, profile.LevelSM:
	}
	for i, h := range hs.List {
		h.Set, h.Regular, h.Warnings = hs, regular[i], regular[i].Notes
		h.Grid = grid // has the days and months of the request
		if r.censored() {
			h.Censoring = &Censoring{Fine: h.Regular, Limit: r.measuredLimit(levels[h.group], len(h.Values))}
		}
	}
	hs.Notes = append(hs.Notes, r.sampleNotes(l, hs, levels)...)
	return hs, nil
}

// measuredLimit returns the first n steps of the measured capacity in GPUs, or nil where the
// request does not ask for it or it is unknown.
func (r *reader) measuredLimit(v profile.Level, n int) []float64 {
	if !r.Past.Measured || v.There == nil {
		return nil
	}
	return v.There[:n:n]
}

// stampFormat returns a function that writes a stamp as a date in the zone for steps of days and
// months, else as a time.
func stampFormat(s capcli.Step, in *time.Location) func(int64) string {
	if in == nil {
		in = time.UTC
	}
	return func(stamp int64) string {
		if s.Days == 0 && s.Months == 0 {
			return capcli.Time(stamp).String()
		}
		return time.Unix(stamp, 0).In(in).Format("2006-01-02")
	}
}

// sampleNotes returns remarks for the user on how the history was measured.
func (r *reader) sampleNotes(l *profile.Levels, hs *Histories, levels map[string]profile.Level) []string {
	var out []string
	byTenant := slices.Contains(r.By, "tenant")
	if l.Guessed && (l.Measure == profile.LevelHeld || byTenant) {
		out = append(out, "some samples came without processes: there a GPU with over 2% of its memory in use counts as held")
	}
	scaled, steps := 0, 0
	var full []string
	for _, h := range hs.List {
		v := levels[h.group]
		if v.Scaled > scaled {
			scaled, steps = v.Scaled, len(v.Values)
		}
		if at := atCapacity(v); at > 0 && l.Measure == profile.LevelHeld && !r.Peak {
			full = append(full, fmt.Sprintf("%s in %s of %s", h.Name, capcli.Grouped(int64(at)), capcli.Grouped(int64(len(v.Values)))))
		}
	}
	if scaled > 0 {
		out = append(out, fmt.Sprintf("%s of %s steps were sampled only in part, each over half: the sampled part stands for the whole step", capcli.Grouped(int64(scaled)), capcli.Grouped(int64(steps))))
	}
	if late := l.LateBoxes(); len(late) > 0 {
		out = append(out, fmt.Sprintf("%d of %d hosts were not sampled all the time, such as %s: a host counts only from its first sample to its last", len(late), l.Hosts(), strings.Join(capcli.Abridge(late, 3), ", ")))
	}
	if len(full) > 0 && !r.censored() {
		out = append(out, fmt.Sprintf("all GPUs were held (%s steps), which hides demand; --past-capacity %s estimates it from the other steps", strings.Join(capcli.Abridge(full, 3), ", "), measuredText))
	}
	if r.Peak {
		out = append(out, "the peak of a step is its highest five-minute mean")
	}
	if l.Measure == profile.LevelBusy {
		out = append(out, `"busy" is NVML's GPU utilisation: a kernel was running. It does not say how much of the GPU worked; --measure sm does`)
	}
	return out
}

// nearLimit is the share of the capacity from which all of it counts as held, as in
// unconstrain.NearLimit.
const nearLimit = 0.995

// atCapacity returns the number of steps in which all GPUs were held.
func atCapacity(v profile.Level) int {
	n := 0
	for i, t := range v.There {
		if t > 0 && v.Values[i] >= nearLimit*t {
			n++
		}
	}
	return n
}
