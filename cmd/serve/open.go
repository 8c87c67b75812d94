package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path/filepath"
	"strconv"

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

var indexTemplate = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>capcli serve</title></head>
<body><main><h1>Runs</h1><ul>{{range $i, $r := .}}<li><a href="/run/{{$i}}">{{$r.Name}}</a></li>{{end}}</ul></main></body></html>
`))

// serveIndex answers with the page of the only run, or a list of the runs.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request) {
	if len(s.o.Runs) == 1 {
		s.writePage(w, s.o.Runs[0].Page)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	s.count.add("page", http.StatusOK)
	_ = indexTemplate.Execute(w, s.o.Runs) // a client that has gone away is no fault
}

// servePage answers with the page of a run, by its number.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || i < 0 || i >= len(s.o.Runs) {
		s.fail(w, http.StatusNotFound, &capcli.RequestError{Text: "there is no such run"})
		return
	}
	s.writePage(w, s.o.Runs[i].Page)
}

// writePage answers with a page. Its own policy is in it; that of the header forbids frames, which a
// page cannot forbid by itself.
func (s *Server) writePage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	s.count.add("page", http.StatusOK)
	_, _ = w.Write(page) // a client that has gone away is no fault
}

// serveMetrics answers with the server's own counts.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	s.count.add("metrics", http.StatusOK)
	_, _ = io.WriteString(w, s.openMetrics())
}
