package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"capcli"
	"capcli/cmd/panel"
	"capcli/cmd/report/page"
	"capcli/cmd/report/paper"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
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
	c, q, err := s.newCase(ctx, maker)
	if err != nil {
		return nil, err
	}
	e, err := live.NewEngine(ctx, c, q, l.Runs, l.Jobs)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: cmp.Or(s.Name, c.Scenario.Name), Engine: e}
	r.Page, err = s.newPage(ctx, r, version)
	return r, err
}

// newCase returns the case of a source, and its question.
func (s *Source) newCase(ctx context.Context, maker *play.Maker) (*play.Case, *play.Question, error) {
	q := s.Ask
	if s.Folder != nil {
		return live.OpenFolder(ctx, maker, s.Folder, q)
	}
	q.Scenario = s.Name
	c, err := maker.Case(ctx, &q)
	return c, &q, err
}

// newPage returns the page of a run: the paper of its result, and the what-if section. A scenario is
// played once for it.
func (s *Source) newPage(ctx context.Context, r *Run, version string) ([]byte, error) {
	extra, err := panel.Served(ctx, r.Engine, r.Name)
	if err != nil {
		return nil, err
	}
	var result *paper.File
	if s.Folder != nil {
		result, err = paper.ReadFile(s.Folder.Open, filepath.Join(s.Folder.Path, "result.json"))
	} else {
		var a *live.Answer
		if a, err = r.Engine.WhatIf(ctx, whatif.Request{}); err == nil {
			result = &paper.File{Name: r.Name}
			result.Text, err = json.Marshal(a.Document)
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := paper.Make(&paper.Request{Title: r.Name, Version: version, Command: r.Engine.Command(), Files: []paper.File{*result}})
	if err != nil {
		return nil, err
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
