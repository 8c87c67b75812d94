// Package scaling says how much faster a job gets on more GPUs, by runs of the same work at several sizes
// that were recorded. It fits nothing: each point is what runs reached, and what cannot be compared is left out
// with words.
package scaling

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"capcli"
	"capcli/profile"
	"capcli/profile/accelerator"
)

// Schema is the schema of a Result.
const Schema = "capcli/profile_scaling/v1"

// What stays the same when a job runs on more GPUs, where only its steps are known.
const (
	SameBatch   = "same"    // the batch of all GPUs together: a step is the same work
	PerGPUBatch = "per-gpu" // that of one GPU: a step is work in proportion to the GPUs
)

// Batches are the values of Request.Batch.
var Batches = []string{SameBatch, PerGPUBatch}

// Request asks for curves.
type Request struct {
	// Job chooses runs whose job ID or command has it or matches it, with * and ?. They count as one work. "" is all runs,
	// which are the same work where tenant and command are the same but for numbers and folders.
	Job   string `json:"job"`
	Batch string `json:"batch"` // "" leaves out runs of which only steps are known
}

// Check fails with *capcli.RequestError for what cannot be asked.
func (r *Request) Check() error {
	if r.Batch != "" && !slices.Contains(Batches, r.Batch) {
		return &capcli.RequestError{Field: "batch", Text: "wants " + strings.Join(Batches, " or ") + ", found " + capcli.Quoted(r.Batch), Hint: "same: the batch of all GPUs together stays as it is; per-gpu: that of one GPU"}
	}
	if _, err := path.Match(r.Job, ""); err != nil {
		return &capcli.RequestError{Field: "job", Text: "is no pattern: " + capcli.Quoted(r.Job), Hint: "--job 'python train.py*'"}
	}
	return nil
}

// Result is the curves that runs show.
type Result struct {
	Schema string    `json:"schema"`
	Input  []string  `json:"input"`
	Curves []Curve   `json:"curves"`
	Left   []LeftOut `json:"left_out"`
}

// Curve is what one kind of work reached at each size.
type Curve struct {
	Name    string  `json:"job_type"`
	Tenant  string  `json:"tenant"`
	Command string  `json:"command"` // of the first run
	Unit    string  `json:"unit"`    // tokens, samples or steps
	Points  []Point `json:"points"`  // by model and GPUs
}

// Point is what runs on so many GPUs of a model reached.
type Point struct {
	Model      string        `json:"gpu_model"`
	GPUs       int           `json:"gpus"`
	PerS       capcli.Figure `json:"steps_per_s"` // units a second: the mean over the time of all runs
	Low        capcli.Figure `json:"low"`         // of the slowest run; of a single one the 5th percentile over time
	High       capcli.Figure `json:"high"`        // of the fastest run, or the mean of a single one
	Runs       int           `json:"runs"`
	Hours      capcli.Figure `json:"hours"`
	Speedup    capcli.Figure `json:"speedup"`    // over the smallest size of the model
	Efficiency capcli.Figure `json:"efficiency"` // speedup over the factor in GPUs
}

// LeftOut is a run that was not compared.
type LeftOut struct {
	Job string `json:"job_id"`
	Why string `json:"why"`
}

// run is a recorded run.
type run struct {
	job   *profile.JobUse
	key   string
	model string
	unit  string
	perS  float64
	low   float64
	hours float64
}

// Limits on runs.
const (
	leastMinutes = 2   // that a rate was told, or a step seen
	leastWhole   = 0.9 // share of its time in which a run held all of its GPUs
)

// Measure returns the curves of the jobs of a summary. It fails with *capcli.InputError where nothing can be compared, with why.
func (r *Request) Measure(s *profile.Summary, input []string) (*Result, error) {
	out := &Result{Schema: Schema, Input: input, Curves: []Curve{}, Left: []LeftOut{}}
	groups := map[string][]run{}
	for _, j := range s.Jobs {
		if !r.chooses(j) || j.Kind == "unknown" {
			continue
		}
		x, why := r.measure(j)
		if why != "" {
			out.Left = append(out.Left, LeftOut{j.ID, why})
			continue
		}
		groups[x.key] = append(groups[x.key], x)
	}
	var keys []string
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	names := map[string]int{}
	for _, k := range keys {
		if c := out.curve(groups[k]); c != nil {
			if n := names[c.Name]; n > 0 {
				names[c.Name]++
				c.Name = fmt.Sprintf("%s-%d", c.Name, n+1)
			} else {
				names[c.Name] = 1
			}
			out.Curves = append(out.Curves, *c)
		}
	}
	slices.SortFunc(out.Left, func(a, b LeftOut) int { return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(a.Why, b.Why)) })
	if len(out.Curves) == 0 {
		return out, out.nothing(input, r)
	}
	return out, nil
}

func (r *Request) chooses(j *profile.JobUse) bool {
	if r.Job == "" {
		return true
	}
	for _, text := range []string{j.ID, j.Command} {
		if ok, _ := path.Match(r.Job, strings.ReplaceAll(text, "/", " ")); ok || strings.Contains(text, r.Job) {
			return true
		}
		if ok, _ := path.Match(strings.ReplaceAll(r.Job, "/", " "), strings.ReplaceAll(text, "/", " ")); ok {
			return true
		}
	}
	return false
}

// measure returns the throughput of a run, or why it cannot be compared.
func (r *Request) measure(j *profile.JobUse) (x run, why string) {
	x = run{job: j, key: j.Tenant + "\x00" + work(j.Command), model: j.Model}
	if r.Job != "" {
		x.key = r.Job
	}
	if m, ok := accelerator.Find(j.Model); ok {
		x.model = m.Name
	}
	seconds := j.To.Sub(j.From).Seconds()
	switch {
	case j.MIG:
		return x, "runs on a MIG instance"
	case j.Use.Shared > 0:
		return x, "shared a GPU: what the others took is not known"
	case float64(j.Use.Held)/1e6 < leastWhole*seconds*float64(j.Devices):
		return x, "held all of its GPUs for a part of its time only"
	}
	if rate, ok := j.Tokens(); ok && rate.Mean > 0 {
		return x.take("tokens", rate)
	}
	if rate, ok := j.Samples(); ok && rate.Mean > 0 {
		return x.take("samples", rate)
	}
	step := j.Worth(nil).Step
	n := 1.0
	if r.Batch == PerGPUBatch {
		n = float64(j.Devices)
	}
	switch {
	case step.Source == "":
		return x, "told no tokens or samples a second, and its step time: " + step.Why
	case r.Batch == "":
		return x, "only its step time is known, which does not say how much work a step is: --batch same or --batch per-gpu says it"
	case !step.Sure:
		return x, fmt.Sprintf("steps of %.3g s may be the image of shorter ones", float64(step.Seconds))
	}
	x.unit, x.perS, x.low, x.hours = "steps", n/float64(step.Seconds), n/float64(step.High), seconds/3600
	return x, ""
}

func (x *run) take(unit string, rate profile.Rate) (run, string) {
	x.unit, x.perS, x.low, x.hours = unit, rate.Mean, rate.P5, float64(rate.Micros)/3.6e9
	if x.hours*60 < leastMinutes {
		return *x, fmt.Sprintf("told its %s for under %d minutes", unit, leastMinutes)
	}
	return *x, ""
}

// work is a command without its numbers and folders.
func work(command string) string {
	var out []string
	for _, w := range strings.Fields(command) {
		name, value, has := strings.Cut(w, "=")
		if has {
			w = name + "=" + path.Base(value)
		} else {
			w = path.Base(w)
		}
		out = append(out, withoutNumbers(w))
	}
	return strings.Join(out, " ")
}

// withoutNumbers writes # for each run of digits.
func withoutNumbers(w string) string {
	var b strings.Builder
	in := false
	for _, c := range w {
		digit := c >= '0' && c <= '9'
		if !digit {
			b.WriteRune(c)
		} else if !in {
			b.WriteByte('#')
		}
		in = digit
	}
	return b.String()
}

// curve makes the curve of runs of one work; nil where they do not compare, which it notes.
func (r *Result) curve(runs []run) *Curve {
	count := map[string]int{}
	for _, x := range runs {
		count[x.unit]++
	}
	unit := "tokens"
	for _, u := range []string{"samples", "steps"} {
		if count[u] > count[unit] {
			unit = u
		}
	}
	leave := func(x *run, why string) { r.Left = append(r.Left, LeftOut{x.job.ID, why}) }
	points := map[[2]string][]run{}
	sizes := map[string]map[int]bool{}
	for i := range runs {
		x := &runs[i]
		if x.unit != unit {
			leave(x, fmt.Sprintf("its %s a second do not compare with the %s of other runs", x.unit, unit))
			continue
		}
		k := [2]string{x.model, fmt.Sprintf("%08d", x.job.Devices)}
		points[k] = append(points[k], *x)
		if sizes[x.model] == nil {
			sizes[x.model] = map[int]bool{}
		}
		sizes[x.model][x.job.Devices] = true
	}
	c := &Curve{Name: nameOf(runs[0].job), Tenant: runs[0].job.Tenant, Command: runs[0].job.Command, Unit: unit}
	for k, at := range points {
		if len(sizes[k[0]]) < 2 {
			for i := range at {
				leave(&at[i], fmt.Sprintf("the only size on %s: %d GPUs; other models of GPU do not compare", k[0], at[i].job.Devices))
			}
			continue
		}
		c.Points = append(c.Points, pointOf(at))
	}
	if len(c.Points) == 0 {
		return nil
	}
	slices.SortFunc(c.Points, func(a, b Point) int { return cmp.Or(strings.Compare(a.Model, b.Model), cmp.Compare(a.GPUs, b.GPUs)) })
	for i := range c.Points {
		p := &c.Points[i]
		base := c.Points[slices.IndexFunc(c.Points, func(q Point) bool { return q.Model == p.Model })]
		p.Speedup = p.PerS / base.PerS
		p.Efficiency = p.Speedup * capcli.Figure(float64(base.GPUs)/float64(p.GPUs))
	}
	return c
}

// pointOf sums up runs at one size.
func pointOf(runs []run) Point {
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.perS, b.perS), strings.Compare(a.job.ID, b.job.ID)) })
	sum, hours := 0.0, 0.0
	for _, x := range runs {
		sum, hours = sum+x.perS*x.hours, hours+x.hours
	}
	p := Point{
		Model: runs[0].model, GPUs: runs[0].job.Devices, Runs: len(runs), PerS: capcli.Figure(sum / hours), Hours: capcli.Figure(hours),
		Low: capcli.Figure(runs[0].perS), High: capcli.Figure(runs[len(runs)-1].perS),
	}
	if len(runs) == 1 {
		p.Low = capcli.Figure(math.Min(runs[0].low, runs[0].perS))
	}
	return p
}

// nameOf names a work by its tenant and the file that it runs.
func nameOf(j *profile.JobUse) string {
	program := ""
	for _, w := range strings.Fields(j.Command) {
		base := path.Base(w)
		if program == "" || strings.HasSuffix(base, ".py") || strings.HasSuffix(base, ".sh") {
			program = base
		}
		if strings.HasSuffix(base, ".py") {
			break
		}
	}
	text := strings.Trim(strings.ToLower(j.Tenant+"-"+program), "-")
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("-._", c) {
			return c
		}
		return '-'
	}, text)
}

// nothing is the error of no curve, with why.
func (r *Result) nothing(input []string, ask *Request) error {
	counts := map[string]int{}
	for _, l := range r.Left {
		counts[l.Why]++
	}
	var whys []string
	for w := range counts {
		whys = append(whys, w)
	}
	slices.SortFunc(whys, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	text := "expected runs of one work at two sizes or more, found none"
	for i, w := range whys[:min(len(whys), 4)] {
		text += []string{"; ", ", "}[min(i, 1)] + fmt.Sprintf("%d %s %s", counts[w], capcli.Plural(int64(counts[w]), "job"), w)
	}
	hint := "record runs at several sizes with --readings, or name them: --job 'train.py'"
	if ask.Batch == "" {
		hint = "record runs at several sizes with --readings; where only step times are known: --batch same"
	}
	file := ""
	if len(input) > 0 {
		file = input[0]
	}
	return &capcli.InputError{File: file, Text: text, Hint: hint}
}

// Lead returns the answer in a sentence for each of the first curves.
func (r *Result) Lead() string {
	text := ""
	for i, c := range r.Curves {
		if i == 2 {
			text += fmt.Sprintf(" %d more in the table.", len(r.Curves)-i)
			break
		}
		first, last := c.Points[0], c.Points[0]
		for _, p := range c.Points {
			if p.Model == first.Model {
				last = p
			}
		}
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%s: %d %s for %d gets %.3g times as much done: an efficiency of %.0f%%.", c.Name, last.GPUs, last.Model, first.GPUs, float64(last.Speedup), 100*float64(last.Efficiency))
	}
	return text
}

// Notes returns what a reader needs to understand the points.
func (r *Result) Notes() []string {
	var out []string
	single, steps := int64(0), false
	for _, c := range r.Curves {
		steps = steps || c.Unit == "steps"
		for _, p := range c.Points {
			if p.Runs == 1 {
				single++
			}
		}
	}
	if single > 0 {
		out = append(out, fmt.Sprintf("%d %s of one run: how much runs differ is not known there, and low is the 5th percentile over its time", single, capcli.Plural(single, "point")))
	}
	if steps {
		out = append(out, "steps are compared as if --batch were true of all runs")
	}
	if n := int64(len(r.Left)); n > 0 {
		out = append(out, fmt.Sprintf("%d %s left out (--table left_out), such as %s: %s", n, capcli.Plural(n, "job"), r.Left[0].Job, r.Left[0].Why))
	}
	return out
}
