package service

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/scale"
	"capcli/simulate/serving/traffic"
)

// ScaleRequest asks how scalers follow a load.
type ScaleRequest struct {
	Specs   []string // files of services, each with a scaler
	Load    string   // file with a column load; "" takes the load or the requests of the services
	For     string   // length of requests that have no end: 7d; "" is a week
	Seed    capcli.Seed
	Scalers []string // play these in place of the scaler of each service, with its settings where they have them

	// Model returns the model of a scaler that foresees; nil has none but the season before.
	Model func(name string, seasons []int) (scale.Forecaster, error)
}

// maxScaleRuns is the most runs of a request.
const maxScaleRuns = 100

// Check refuses a request that is wrong by itself.
func (q *ScaleRequest) Check() error {
	switch n := len(q.Specs) * max(1, len(q.Scalers)); {
	case len(q.Specs) == 0:
		return &capcli.RequestError{Text: "a service is missing", Hint: "name its file: capcli service scale service.yaml --load load.csv"}
	case n > maxScaleRuns:
		return &capcli.RequestError{Field: "scaler", Text: fmt.Sprintf("would play %d runs; at most %d are allowed", n, maxScaleRuns)}
	}
	if _, err := q.length(); err != nil {
		return err
	}
	for i, name := range q.Scalers {
		if err := capcli.CheckChoice("scaler", name, scale.Catalog.Names()); err != nil {
			return err
		}
		if slices.Contains(q.Scalers[:i], name) {
			return &capcli.RequestError{Field: "scaler", Text: fmt.Sprintf("names %s twice", name)}
		}
	}
	return nil
}

func (q *ScaleRequest) length() (capcli.Seconds, error) {
	if q.For == "" {
		return 0, nil
	}
	v, err := capcli.ParseSeconds(q.For)
	if err != nil || v < 1 {
		return 0, &capcli.RequestError{Field: "for", Text: fmt.Sprintf("wants a length of time such as 7d, found %q", q.For)}
	}
	return v, nil
}

// scaleTry is a case to play.
type scaleTry struct {
	file, name string
	why        []string // where its numbers are from
	*scale.Case
	gpus  int64
	price float64 // of a GPU-hour; 0 is not known
}

// Answer reads the services and the load and plays every case, side by side. The result does not depend on
// the number of workers.
func (q *ScaleRequest) Answer(ctx context.Context, open trace.Opener) (*ScaleResult, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	load, err := q.readLoad(open)
	if err != nil {
		return nil, err
	}
	var tries []scaleTry
	for _, name := range q.Specs {
		more, err := q.readTries(ctx, open, name, load)
		if err != nil {
			return nil, capcli.NameFile(err, name)
		}
		tries = append(tries, more...)
	}
	runs, err := capcli.MapParallel(ctx, tries, nil, func(_ context.Context, t scaleTry) (*scale.Run, error) {
		run, err := scale.Play(t.Case)
		return run, capcli.NameFile(err, t.file)
	})
	if err != nil {
		return nil, err
	}
	return newScaleResult(tries, runs), nil
}

// readLoad returns the load of the file; nil where none is named.
func (q *ScaleRequest) readLoad(open trace.Opener) ([]int64, error) {
	if q.Load == "" {
		return nil, nil
	}
	in, done, err := open(q.Load)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	text, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	load, err := scale.ReadLoad(text)
	return load, capcli.NameFile(err, in.Name)
}

// readTries returns the cases of one file.
func (q *ScaleRequest) readTries(ctx context.Context, open trace.Opener, name string, load []int64) ([]scaleTry, error) {
	text, err := open.ReadFile(name, strict.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	spec, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	if spec.Name == "" {
		spec.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	load, why, err := q.complete(ctx, open, name, spec, load)
	if err != nil {
		return nil, err
	}
	var tries []scaleTry
	for _, s := range q.scalers(spec) {
		if s, err = q.withModel(s); err != nil {
			return nil, err
		}
		own := *spec
		own.Scaler = s
		c, err := own.ScaleCase(load)
		if err != nil {
			return nil, err
		}
		if _, err := scale.NewScaler(s); err != nil {
			return nil, &capcli.RequestError{Field: "scaler", Text: fmt.Sprintf("%s: %v", s.Kind, err), Hint: "give this scaler a service file of its own"}
		}
		t := scaleTry{file: name, name: "none", why: why, Case: c, gpus: max(1, spec.Config.GPUs), price: spec.Config.Price}
		if s != nil {
			t.name = s.Kind
		}
		tries = append(tries, t)
	}
	return tries, nil
}

// complete finds out what the service does not state: its load, from the requests that it describes, and
// what a replica serves in a step. It returns the load and where these numbers are from.
func (q *ScaleRequest) complete(ctx context.Context, open trace.Opener, name string, spec *Spec, load []int64) ([]int64, []string, error) {
	if !spec.HasRequests() || len(spec.Arrivals) > 0 || load != nil && spec.PerStep > 0 {
		return load, nil, nil
	}
	var notes []string
	beside := func(file string) (trace.Input, io.Closer, error) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(name), file)
		}
		return open(file)
	}
	start := capcli.NoTime
	if spec.Scaler != nil && spec.Scaler.Start != 0 {
		start = spec.Scaler.Start
	}
	source, err := spec.Traffic(ctx, Opening{Open: beside, Start: start, Seed: q.Seed, Note: func(text string) { notes = append(notes, text) }})
	if err != nil {
		return nil, nil, err
	}
	perStep, why, err := spec.PerReplica(source)
	if err != nil {
		return nil, nil, err
	}
	if spec.PerStep = perStep; why != "" {
		notes = append(notes, why)
	}
	if load == nil {
		load, err = q.drawLoad(source, spec.StepLength())
	}
	return load, notes, err
}

// drawLoad returns the requests of each step.
func (q *ScaleRequest) drawLoad(source traffic.Source, step capcli.Seconds) ([]int64, error) {
	length, err := q.length()
	if err != nil {
		return nil, err
	}
	if end := source.Length(); end > 0 && (length == 0 || end < length) {
		length = end
	}
	if length == 0 {
		length = 7 * capcli.Day
	}
	n := (length + step - 1) / step
	if n > scale.MaxSteps {
		return nil, &capcli.RequestError{Field: "for", Text: fmt.Sprintf("is %s, over %d steps of %s", length, scale.MaxSteps, step)}
	}
	return source.Counts(step, int(n))
}

// scalers returns the scalers to play for a service: its own, or those of the request with the settings of
// its own.
func (q *ScaleRequest) scalers(spec *Spec) []*scale.Settings {
	if len(q.Scalers) == 0 {
		return []*scale.Settings{spec.Scaler}
	}
	own := spec.Scaler
	if own == nil {
		own = &scale.Settings{}
	}
	var out []*scale.Settings
	for _, kind := range q.Scalers {
		if kind == own.Kind {
			out = append(out, own)
			continue
		}
		s := own.ChangeKind(kind)
		if _, given := s.Values["target"]; !given && s.Declares("target") && spec.PerStep > 0 {
			s.Values = maps.Clone(s.Values)
			s.Values["target"] = 0.8 * float64(spec.PerStep)
		}
		if s.Declares("depth") && spec.PerStep > 0 {
			s.Values = maps.Clone(s.Values)
			s.Values["depth"] = float64(spec.PerStep)
		}
		out = append(out, s)
	}
	return out
}

// withModel returns the settings with the model that they name.
func (q *ScaleRequest) withModel(s *scale.Settings) (*scale.Settings, error) {
	if s == nil || s.Model == "" {
		return s, nil
	}
	if q.Model == nil {
		return nil, &capcli.RequestError{Field: "model", Text: "cannot be chosen here; leave it out"}
	}
	m, err := q.Model(s.Model, s.Seasons())
	if err != nil {
		return nil, err
	}
	with := *s
	with.Forecaster = m
	return &with, nil
}
