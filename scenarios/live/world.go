// Package live carries a scenario and its jobs to where no files are: into a page, where the engine
// answers what-if questions. A World is all that a run reads. Its jobs are compact columns; if
// there are too many they are thinned so that the load stays.
//
//	w, err := live.NewWorld(ctx, c, question, o)
//	maker, question, err := w.Maker()
//	c, err := maker.Case(ctx, question) // the same case, without files
package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// Schema is the schema of a World.
const Schema = "capcli/live/v1"

// World is all that runs of a case read.
type World struct {
	Schema    string      `json:"schema"`
	Scenario  string      `json:"scenario"` // its text
	File      string      `json:"file"`
	Notes     []string    `json:"notes"` // assumptions made when the text was written for a log
	Sets      []string    `json:"set"`
	Policy    string      `json:"policy"`
	Placement string      `json:"placement"`
	Perfect   bool        `json:"perfect_estimates"`
	Seed      capcli.Seed `json:"seed"`
	Trace     string      `json:"trace"`     // name of the log of the jobs, or of their generator
	Generated bool        `json:"generated"` // whether the scenario makes the jobs
	Jobs      []byte      `json:"jobs"`      // a pack of the jobs
	Count     int         `json:"count"`     // of the jobs
	Thinned   *Thinned    `json:"thinned"`
	Files     []File      `json:"files"`   // that the scenario names
	Words     []string    `json:"command"` // that plays the case, without the policy and the placement
	Prices    []byte      `json:"prices"`  // a list of prices as CSV that takes precedence; null is none

	held []capcli.Job // before they are packed
}

// File is a file that a scenario names.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// maxFiles is the most bytes of the files that a World carries.
const maxFiles = 4 << 20

// NewWorld returns the world of a case that q asked for. It carries at most most jobs, thinned if
// there are more, and the files that open opens when the scenario names them. It fails with
// *capcli.RequestError for a case on which Kueue decides, and for files of more than 4 MiB.
func NewWorld(ctx context.Context, c *play.Case, q *play.Question, most int) (*World, error) {
	w, err := newWorld(ctx, c, q)
	if err != nil {
		return nil, err
	}
	w.held, w.Thinned = Thin(w.held, most, c.Seed)
	w.Count = len(w.held)
	w.Words = w.words(c, q)
	w.Jobs, err = Pack(w.held)
	w.held = nil
	return w, err
}

// newWorld returns the world of a case with all its jobs, not packed.
func newWorld(ctx context.Context, c *play.Case, q *play.Question) (*World, error) {
	s := c.Scenario
	if s.Kueue != nil {
		return nil, &capcli.RequestError{Field: "live", Text: ": Kueue decides on the jobs of " + s.Name + ", which the page cannot play", Hint: "leave it out"}
	}
	w := &World{
		Schema: Schema, Scenario: string(c.Text), File: s.File, Notes: append([]string{}, c.Made...), Sets: append([]string{}, q.Sets...),
		Policy: s.PolicyName(), Placement: s.PlacementName(), Perfect: s.Policy.Perfect, Seed: c.Seed,
		Files: []File{},
	}
	if s.Jobs.TZ != "" { // the jobs are read, and a browser's engine has no table of zones
		w.Sets = append(w.Sets, "jobs.tz=null")
	}
	if q.Prices != nil {
		var list bytes.Buffer
		if err := q.Prices.WriteCSV(&list, func(cell string) string { return cell }); err != nil {
			return nil, err
		}
		w.Prices = list.Bytes()
	}
	if err := w.keepJobs(ctx, c); err != nil {
		return nil, err
	}
	w.Words = w.words(c, q)
	return w, w.keepFiles(c, q)
}

// keepJobs keeps the jobs of run 0 of the case. Those that the scenario makes are kept too: the last
// digit of a logarithm, and with it a job, depends on the processor.
func (w *World) keepJobs(ctx context.Context, c *play.Case) error {
	reading, err := c.Source.OpenAlone(0)
	if err != nil {
		return err
	}
	defer func() { _ = reading.Close() }()
	for j, err := range trace.Sorted(capcli.WatchJobs(ctx, reading.Jobs, func(int64) {})) {
		if err != nil {
			return err
		}
		if j.Stage != nil {
			return &capcli.RequestError{Field: "live", Text: fmt.Sprintf(": job %s of %s waits for others, which a page does not carry", j.ID, c.Source.Name), Hint: "capcli serve plays it without a page that carries the jobs"}
		}
		w.held = append(w.held, j)
	}
	w.Count, w.Trace, w.Generated = len(w.held), c.Source.Name, !c.FromLog()
	return nil
}

// keepFiles keeps the files that the scenario names: it parses the scenario again and sees what is
// opened.
func (w *World) keepFiles(c *play.Case, q *play.Question) error {
	if c.Open == nil {
		return nil
	}
	total := 0
	seen := func(name string) ([]byte, error) {
		data, err := c.Open(name)
		if err != nil || slices.ContainsFunc(w.Files, func(f File) bool { return f.Name == name }) {
			return data, err
		}
		if total += len(data); total > maxFiles {
			return nil, &capcli.RequestError{Field: "live", Text: fmt.Sprintf(": the files that %s names have more than 4 MiB, too much for a page", c.Scenario.Name), Hint: "capcli serve plays it without a page that carries them"}
		}
		w.Files = append(w.Files, File{name, data})
		return data, nil
	}
	s, err := scenarios.ParseWith(q.Prices, c.Scenario.File, c.Text, q.Sets...) // the case's own has its files already
	if err != nil {
		return err
	}
	if _, err := s.Rates(scenarios.Options{Seed: c.Seed, Open: seen}); err != nil || s.Energy == nil {
		return err
	}
	_, err = s.Energy.Load(seen)
	return err
}

// Maker returns a maker and a question whose case plays the world, once: it has the jobs of the first
// run. It fails with *capcli.InputError
// if the world is damaged.
func (w *World) Maker() (*play.Maker, *play.Question, error) {
	if w.Schema != Schema {
		return nil, nil, &capcli.InputError{Field: "schema", Text: fmt.Sprintf("expected %s, found %q", Schema, w.Schema), Hint: "make the page again with capcli report --live"}
	}
	logs := &play.Logs{Open: w.open}
	q := &play.Question{
		Kept: &play.ScenarioText{YAML: []byte(w.Scenario), File: w.File, Made: w.Notes}, Sets: slices.Clone(w.Sets),
		Policy: w.Policy, Place: w.Placement, Perfect: w.Perfect, Seed: &w.Seed, Trace: w.Trace,
	}
	var err error
	if w.Prices != nil {
		if q.Prices, err = prices.Parse("prices.csv", w.Prices); err != nil {
			return nil, nil, err
		}
	}
	jobs := w.held
	if jobs == nil {
		if jobs, err = Unpack(w.Jobs); err != nil {
			return nil, nil, err
		}
	}
	logs.Held = func(string) capcli.Jobs { return list(jobs) }
	return &play.Maker{Logs: logs}, q, nil
}

// open opens a file that the world carries.
func (w *World) open(name string) (trace.Input, io.Closer, error) {
	for i := range w.Files {
		f := &w.Files[i]
		if f.Name == name || filepath.Join(filepath.Dir(w.File), f.Name) == name {
			r := bytes.NewReader(f.Data)
			return trace.Input{Name: name, R: r, At: r, Size: int64(len(f.Data))}, io.NopCloser(nil), nil
		}
	}
	return trace.Input{}, nil, fmt.Errorf("cannot read %s: %w", name, fs.ErrNotExist)
}

func list(jobs []capcli.Job) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for i := range jobs {
			if !yield(jobs[i], nil) {
				return
			}
		}
	}
}
