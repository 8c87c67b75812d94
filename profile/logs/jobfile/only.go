package jobfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"capcli"
)

// Only chooses jobs. The zero value of each field chooses all.
type Only struct {
	GPU     string                 // the model that they want; jobs that name no model want any, and are chosen
	Same    func(a, b string) bool // reports whether two names are of one model
	Without []string               // tenants whose jobs are left out
	// From and To, dates or times, bound the part of the log that counts: jobs submitted up to To that would
	// have run, had they not waited, after From. A date is its first second for From and its last for To. What
	// a job would have run before From is cut off: it is submitted at From and runs for the rest.
	From, To string

	from, until capcli.Time // NoTime is no bound; until is the first second that does not count
}

// Flags returns the flags of capcli import that choose the same jobs.
func (o *Only) Flags() []string {
	var out []string
	for _, name := range o.Without {
		out = append(out, "--without", name)
	}
	for _, f := range [][2]string{{"--gpu", o.GPU}, {"--from", o.From}, {"--to", o.To}} {
		if f[1] != "" {
			out = append(out, f[0], f[1])
		}
	}
	return out
}

// settle returns o with its times parsed; those without a zone are in zone, and nil is UTC. It fails with
// *capcli.RequestError.
func (o Only) settle(zone *time.Location) (_ *Only, err error) {
	o.from, o.until = capcli.NoTime, capcli.NoTime
	if o.From != "" {
		if o.from, err = capcli.ParseTime(o.From, zone, false); err != nil {
			return nil, &capcli.RequestError{Field: "from", Text: err.Error(), Hint: "--from 2026-03-01"}
		}
	}
	if o.To != "" {
		if o.until, err = capcli.ParseTime(o.To, zone, true); err != nil {
			return nil, &capcli.RequestError{Field: "to", Text: err.Error(), Hint: "--to 2026-03-31"}
		}
		o.until++
	}
	if o.To != "" && o.until <= o.from {
		return nil, &capcli.RequestError{Field: "to", Text: fmt.Sprintf("is before --from: found %s and %s", o.To, o.From), Hint: "swap them"}
	}
	return &o, nil
}

// Wants reports whether a job that wants a model, or one of several ("A100|H100"), may have GPUs of o.
func (o *Only) Wants(model string) bool {
	return o.GPU == "" || model == "" || slices.ContainsFunc(strings.Split(model, "|"), func(m string) bool { return o.Same(m, o.GPU) })
}

// cut reports whether a job counts by its tenant and its time, and cuts off what it would have run before From.
func (o *Only) cut(j *capcli.Job) bool {
	if slices.Contains(o.Without, j.Tenant) || o.until.IsKnown() && j.Submit >= o.until {
		return false
	}
	if !o.from.IsKnown() || j.Submit >= o.from {
		return true
	}
	early := o.from - j.Submit
	if j.Run <= capcli.Seconds(early) {
		return false
	}
	j.Submit, j.Run = o.from, j.Run-capcli.Seconds(early)
	if j.Limit > 0 {
		j.Limit = max(j.Run, j.Limit-capcli.Seconds(early))
	}
	if j.Start.IsKnown() {
		j.Start = max(j.Start, o.from)
	}
	if j.End.IsKnown() {
		j.End = max(j.End, o.from)
	}
	return true
}

// tallyOfModels counts the jobs that Only leaves out, by the model that they want.
type tallyOfModels struct {
	left   int64 // of all causes
	gone   int64 // by their tenant or their time
	models map[string]int64
	named  bool // whether a chosen job names the model
}

// take yields the jobs that o chooses. A nil o chooses all.
func (t *tallyOfModels) take(o *Only, jobs capcli.Jobs) capcli.Jobs {
	if o == nil {
		return jobs
	}
	t.models = map[string]int64{}
	return func(yield func(capcli.Job, error) bool) {
		for job, err := range jobs {
			if err == nil && !o.Wants(job.GPUModel) {
				t.left++
				t.models[job.GPUModel]++
				continue
			}
			if err == nil && !o.cut(&job) {
				t.left++
				t.gone++
				continue
			}
			t.named = t.named || job.GPUModel != ""
			if !yield(job, err) {
				return
			}
		}
	}
}

// listed is the largest number of models that a message lists.
const listed = 8

// settle returns notes on what was left out. It fails with *capcli.InputError where no job is left.
func (t *tallyOfModels) settle(r *Request, kept int64) (notes []string, err error) {
	if r.Only == nil {
		return nil, nil
	}
	if t.gone > 0 {
		notes = append(notes, fmt.Sprintf("%s %s left out by tenant or time", capcli.Grouped(t.gone), verb(t.gone, "job is", "jobs are")))
	}
	if kept == 0 && t.gone > 0 {
		return nil, &capcli.InputError{File: r.Input, Text: "expected jobs of the part that counts, found none in " + capcli.Grouped(t.gone+t.left), Hint: "widen --from and --to, or leave out fewer tenants (--without)"}
	}
	if r.Only.GPU == "" {
		return notes, nil
	}
	names := slices.SortedFunc(maps.Keys(t.models), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.models[b], t.models[a]), cmp.Compare(a, b))
	})
	texts := capcli.Map(names, func(n string) string {
		return fmt.Sprintf("%s (%s %s)", capcli.Quoted(n), capcli.Grouped(t.models[n]), capcli.Plural(t.models[n], "job"))
	})
	list := strings.Join(capcli.Abridge(texts, listed), ", ")
	switch {
	case kept == 0 && len(names) > 0:
		return nil, &capcli.InputError{
			File: r.Input, Field: "gpu_model", Text: fmt.Sprintf("expected jobs that want %s, found only jobs that want %s", r.Only.GPU, list),
			Hint: "--gpu " + capcli.ShellWord(names[0]) + ", or another GPU that the log has",
		}
	case len(names) > 0:
		other := t.left - t.gone
		notes = append(notes, fmt.Sprintf("%s %s other GPUs than %s and are left out: %s", capcli.Grouped(other), verb(other, "job wants", "jobs want"), r.Only.GPU, list))
	}
	if kept > 0 && !t.named {
		notes = append(notes, "the jobs name no GPU model: all are taken to want "+r.Only.GPU)
	}
	return notes, nil
}

func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
