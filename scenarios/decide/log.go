package decide

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/forecast/history"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/trace"
	"capcli/scenarios/money/prices"
)

// leastDays is the shortest log from which futures are made, two of each weekday, and leastPart the shortest
// part of a longer one, an end that fell away: a week, whose last submission need not be on its last day.
const leastDays, leastPart = 14, 6

// importLog imports the part of the log that counts. The log is judged first, as a whole.
func (c *chain) importLog(ctx context.Context) error {
	if err := c.readInputs(ctx); err != nil {
		return err
	}
	sum := c.inputSum()
	only := &jobfile.Only{GPU: c.GPU, Same: prices.SameModel}
	f, err := c.importOf(ctx, sum, only)
	if err != nil {
		return err
	}
	if err := c.judge(ctx, f.Texts[JobsFile]); err != nil {
		return err
	}
	only.From, only.To = c.gone.Bounds()
	if only.Without = c.gone.GoneTenants(); only.From != "" || only.To != "" || only.Without != nil {
		if f, err = c.importOf(ctx, sum, only); err != nil {
			return err
		}
	}
	c.out.Notes = append(c.out.Notes, f.Notes...)
	return c.put("import", command(append(append(c.importFlags(), only.Flags()...), "--out", JobsFile)...), f, JobsFile)
}

// importOf imports the jobs of the log, whose hash is sum, that only chooses.
func (c *chain) importOf(ctx context.Context, sum string, only *jobfile.Only) (*files, error) {
	opts, err := c.Read.Parse()
	if err != nil {
		return nil, err
	}
	how, err := json.Marshal(c.Read)
	if err != nil {
		return nil, err
	}
	return c.recall(append([]string{"import", sum, c.inputText(), string(how)}, only.Flags()...), func() (*files, error) {
		file, err := jobfile.FileOf(JobsFile)
		if err != nil {
			return nil, err
		}
		var jobs bytes.Buffer
		at, end := c.w.progress("jobs")
		res, err := c.given.Import(ctx, &jobfile.Request{
			Input: c.Trace, More: c.More, Open: c.w.Open, Options: opts, File: file, Only: only,
			Begin: func() (*jobfile.Pass, error) {
				jobs.Reset()
				return &jobfile.Pass{Jobs: &jobs, Reject: func(trace.Reject) error { return nil }, Done: at, End: end}, nil
			},
		})
		if err != nil {
			return nil, err
		}
		out := &files{Texts: map[string][]byte{JobsFile: jobs.Bytes()}, Notes: res.Notes}
		if res.Rejected > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%s of %s rows were rejected; capcli import says which", capcli.Grouped(res.Rejected), capcli.Grouped(res.Rows)))
		}
		if res.Partial {
			out.Notes = append(out.Notes, c.inputText()+" is cut short: the demand after its end is too low")
		}
		return out, nil
	})
}

func (c *chain) describe(context.Context) error {
	in, closer, err := c.open(c.jobsFile())
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	r, err := trace.Open(in, trace.Options{})
	if err != nil {
		return err
	}
	daily := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Days: 1}}
	hourly := capcli.Demand{Measure: capcli.LatentDemand, Step: capcli.Step{Seconds: capcli.Hour}}
	var jobs []capcli.Job
	sum, err := trace.Describe(measured(r.Jobs(), &jobs, &daily, &hourly), nil)
	if err != nil {
		return err
	}
	c.described = &trace.Description{Schema: "capcli/trace_describe/v1", Input: in.Name, Read: r.Report(), Summary: sum}
	if sum.Jobs == sum.CPUOnlyJobs {
		return &capcli.InputError{File: c.inputText(), Text: "expected jobs that want GPUs, found none", Hint: "capcli trace describe " + capcli.ShellWord(c.Trace)}
	}
	if err := c.checkDays(sum.SpanS); err != nil {
		return err
	}
	c.alone = useAlone(jobs, c.lot())
	c.history = wholeSeries(&hourly)
	levels := wholeSeries(&daily).Values
	for _, v := range levels[max(0, len(levels)-7):] {
		c.tail += v / float64(min(7, len(levels)))
	}
	text, err := encode(c.described)
	if err != nil {
		return err
	}
	return c.put("describe", command("trace", "describe", c.jobsFile(), "-o", "json", "--out", DescribeFile), &files{Texts: map[string][]byte{DescribeFile: text}}, DescribeFile)
}

// wholeSeries returns the demand of the steps that a log covers: what runs on after the last submission is
// no history.
func wholeSeries(d *capcli.Demand) *capcli.Series {
	s := d.Series("")
	from, to := d.WholeSteps()
	s.Start, s.Values = d.Grid().At(from), s.Values[from:min(to, len(s.Values))]
	return &s
}

// measured yields jobs, keeps them in list and adds them to demands.
func measured(jobs capcli.Jobs, list *[]capcli.Job, demands ...*capcli.Demand) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for j, err := range jobs {
			for _, d := range demands {
				if err == nil {
					err = d.Add(&j, "")
				}
			}
			if err == nil {
				*list = append(*list, j)
			}
			if !yield(j, err) {
				return
			}
		}
	}
}

// useAlone returns the GPU time that jobs would take if each had whole machines of its own, over what they
// take.
func useAlone(jobs []capcli.Job, lot int) float64 {
	var use, whole float64
	for i := range jobs {
		n := float64(jobs[i].Milli()) / 1000
		use += n * float64(jobs[i].Run)
		whole += math.Ceil(n/float64(lot)) * float64(lot) * float64(jobs[i].Run)
	}
	if use == 0 {
		return 1
	}
	return whole / use
}

// judge says what of the log is gone, and which part counts: what the request says, else the level since the
// last change. Where the end fell away it asks.
func (c *chain) judge(ctx context.Context, text []byte) error {
	r, err := trace.Open(trace.Input{Name: JobsFile, R: bytes.NewReader(text), At: bytes.NewReader(text), Size: int64(len(text))}, trace.Options{})
	if err != nil {
		return err
	}
	var jobs []capcli.Job
	for _, err := range measured(r.Jobs(), &jobs) {
		if err != nil {
			return err
		}
	}
	c.takeLog(jobs)
	found, err := history.Inspect(jobs)
	if err != nil {
		return err
	}
	choices := found.Choices()
	if c.AsIf == "" && found.IsChoice() {
		if err := c.ask(ctx, found, choices); err != nil {
			return err
		}
	}
	if c.gone = found; c.AsIf != "" {
		if c.gone, err = found.Choose(c.AsIf); err != nil {
			return err
		}
	}
	if c.out.Counts = c.countsText(); c.out.Counts != "" {
		c.out.AsIf = c.gone.Name()
	}
	return nil
}

// ask answers the question in each way in which the log can count. It returns a *capcli.ResultError of the kind
// NoPlan with the question, unless all answers order the same.
func (c *chain) ask(ctx context.Context, found *history.Review, choices []history.Choice) error {
	quiet := &World{Open: c.w.Open, IsFolder: c.w.IsFolder, Folder: c.w.Folder, Cache: c.memory.folder, Version: c.w.Version, Build: c.w.Build, Progress: c.w.Progress}
	same := true
	for i, choice := range choices {
		ask := *c.Request
		ask.AsIf, ask.Origins, ask.Tiers = choice.Name, 0, ""
		if c.w.Step != nil {
			c.w.Step(i+1, len(choices), "as if "+choice.Name)
		}
		r, err := Decide(ctx, &ask, quiet)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		way := Way{AsIf: choice.Name, Counts: choice.Text}
		switch {
		case r == nil || r.Plan == nil && r.Nearest == nil:
			way.Failure = err.Error()
		case r.Plan == nil:
			way.Failure = r.Failure
			way.take(r, r.Nearest)
		default:
			way.take(r, r.Plan)
		}
		c.out.Ways = append(c.out.Ways, way)
		same = same && way.isSame(&c.out.Ways[0])
	}
	if same {
		return nil
	}
	var list []string
	for i := range c.out.Ways {
		list = append(list, c.out.Ways[i].text())
	}
	c.out.Answer = fmt.Sprintf("Nothing is ordered before you choose: %s, and the log does not say what comes next. %s", strings.Join(found.Sentences(), "; "), strings.Join(list, " "))
	failure := &capcli.ResultError{Kind: capcli.NoPlan, Text: "the answer hangs on what the end of the log means: choose with --as-if", Hint: "--as-if " + choices[0].Name}
	for _, x := range choices[1:] {
		failure.Hint += ", or " + x.Name
	}
	c.out.Failure = failure.Error()
	return failure
}

// take copies the order and the cost of an answer.
func (w *Way) take(r *Result, p *Choice) {
	w.Demand, w.Ahead, w.GPUs, w.Cost, w.least, w.most = r.Log.Demand, r.Log.Ahead, p.GPUs, p.Cost, float64(p.GPUs), float64(p.GPUs)
	for _, x := range p.Commitments {
		if x.Start.Time == r.Start && w.Term == "" {
			w.Term = x.Term
		}
	}
	if r.Ties != nil {
		w.least, w.most = min(w.least, r.Ties.Least), max(w.most, r.Ties.Most)
	}
}

// isSame reports whether two ways order the same: each order is among the sizes that cost the same by the other.
func (w *Way) isSame(o *Way) bool {
	holds := func(a, b *Way) bool { return a.least <= float64(b.GPUs) && float64(b.GPUs) <= a.most }
	return w.Failure == "" && o.Failure == "" && w.Term == o.Term && holds(w, o) && holds(o, w)
}

// text says what a way answers.
func (w *Way) text() string {
	text := fmt.Sprintf("--as-if %s (%s)", w.AsIf, w.Counts)
	if w.Failure != "" && w.Ahead == 0 {
		return text + " has no answer: " + w.Failure + "."
	}
	order := "orders nothing"
	if w.GPUs > 0 {
		order = strings.TrimSuffix(fmt.Sprintf("orders %s GPUs for %s", capcli.Grouped(int64(w.GPUs)), cmp.Or(w.Term, "a place")), " for a place")
	}
	return text + fmt.Sprintf(" expects %.0f GPUs in use, %s and costs %s.", w.Ahead, order, w.Cost.Brief())
}

// countsText says which part of the log counts, and why; "" where all of it does and nothing is gone.
func (c *chain) countsText() string {
	if c.gone.IsWhole() {
		return ""
	}
	return fmt.Sprintf("What counts of the log is %s (--as-if %s): %s.", c.gone.Part(), c.gone.Name(), strings.Join(c.gone.Sentences(), "; "))
}
