package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"capcli"
	"capcli/cmd/panel"
	"capcli/cmd/report/page"
	"capcli/scenarios/live"
	"capcli/scenarios/paper"
	"capcli/scenarios/play"
)

// Source is what a run is made of: a folder of runs, or a question about a scenario.
type Source struct {
	Name   string
	Folder *play.Folder // nil for a scenario
	Ask    play.Question
}

// Limits are the most that a run may take.
type Limits struct {
	Jobs int // of a run; 2,000,000 at most
	Runs int // of a request
}

// maxLimitJobs and maxLimitRuns bound Limits.
const (
	maxLimitJobs = 5_000_000
	maxLimitRuns = 10_000
)

// Check fails with *capcli.RequestError if a limit is out of its range.
func (l *Limits) Check() error {
	switch {
	case l.Jobs < 1 || l.Jobs > maxLimitJobs:
		return &capcli.RequestError{Field: "max-jobs", Text: fmt.Sprintf("wants 1 to %d, found %d", maxLimitJobs, l.Jobs)}
	case l.Runs < 1 || l.Runs > maxLimitRuns:
		return &capcli.RequestError{Field: "max-runs", Text: fmt.Sprintf("wants 1 to %d, found %d", maxLimitRuns, l.Runs)}
	}
	return nil
}

// OpenRun reads a run, so that no file is opened later. It fails as play.Maker.Case does, and with
// *capcli.RequestError for more jobs than the limit.
func OpenRun(ctx context.Context, maker *play.Maker, s Source, l Limits, version string) (*Run, error) {
	q := s.Ask
	if s.Folder != nil {
		in, err := s.Folder.Inputs()
		if err != nil {
			return nil, err
		}
		if in == nil {
			return nil, &capcli.InputError{
				File: filepath.Join(s.Folder.Path, play.InputsFile), Text: "expected the inputs of the runs, found no such file",
				Hint: "write the folder with capcli simulate … --out " + s.Folder.Path,
			}
		}
		if err := s.Folder.Complete(&q, in); err != nil {
			return nil, err
		}
	} else {
		q.Scenario = s.Name
	}
	c, err := maker.Case(ctx, &q)
	if err != nil {
		return nil, err
	}
	e, err := live.NewEngine(ctx, c, &q, l.Runs, l.Jobs)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: cmp.Or(s.Name, c.Scenario.Name), Engine: e}
	r.Page, err = newPage(ctx, r, version)
	return r, err
}

// newPage returns the page of a run.
func newPage(ctx context.Context, r *Run, version string) ([]byte, error) {
	extra, err := panel.Served(ctx, r.Engine, r.Name)
	if err != nil {
		return nil, err
	}
	p := &paper.Paper{
		Schema: paper.Schema, Version: version, Title: r.Name, Command: r.Engine.Command(),
		Answer: paper.Answer{Sentence: "What if the capacity of " + r.Name + " were another?"},
	}
	var b bytes.Buffer
	if err := page.Write(&b, p, page.Options{Extras: []page.Extra{extra}}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// NewToken returns a token of 256 random bits.
func NewToken(random io.Reader) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}
