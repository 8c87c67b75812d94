package sizing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/serving/service"
	"capcli/simulate/serving/traffic"
)

// Files are the files of a request: a service, and requests to size it for.
type Files struct {
	Spec     string // a service, or a scenario with services: a file or a name of the library
	Service  string // of a scenario; "" is its only one
	Requests string // "" takes those that the service says come
	Days     int    // of requests that are drawn from a curve; 0 is one
	Read     requests.Options
	Vary     Vary
	Seed     capcli.Seed

	start capcli.Time // of the scenario's period
	named bool        // the request names terms
}

// readService reads the service of a file: a service of its own, or one of a scenario. A scenario says its
// prices: that of its on-demand capacity, and where none are named the terms of its reserved capacity.
func (f *Files) readService(open trace.Opener, r *Request) (*service.Spec, error) {
	f.start = capcli.NoTime
	text, ok := scenarios.Library(f.Spec)
	if !ok {
		var err error
		if text, err = open.ReadFile(f.Spec, strict.MaxBytes+1); err != nil {
			return nil, err
		}
	}
	if !scenarioLine.Match(text) {
		return service.ReadSpec(open, f.Spec)
	}
	s, err := scenarios.Parse(f.Spec, text)
	if err != nil {
		return nil, err
	}
	var names []string
	var found *service.Spec
	for i := range s.Services {
		if v := &s.Services[i]; f.Service == "" || f.Service == v.Name {
			names, found = append(names, v.Name), v
		}
	}
	switch {
	case len(s.Services) == 0:
		return nil, &capcli.InputError{File: f.Spec, Field: "services", Text: "expected a service to size, found none", Hint: "capcli scenarios template shows services:"}
	case found == nil:
		return nil, &capcli.RequestError{Field: "service", Text: fmt.Sprintf(": %s has no service %s", f.Spec, capcli.Quoted(f.Service))}
	case len(names) > 1:
		return nil, &capcli.RequestError{Field: "service", Text: fmt.Sprintf("wants one of the services of %s: %s", f.Spec, strings.Join(names, ", "))}
	}
	if f.Seed = capcli.Seed(cmp.Or(uint64(f.Seed), uint64(s.Seed))); s.Period.Start.IsKnown() {
		f.start = s.Period.Start
	}
	f.takePrices(s, found, r)
	return found, nil
}

// scenarioLine is the line that says that a file is a scenario.
var scenarioLine = regexp.MustCompile(`(?m)^capcli:\s*["']?scenario/`)

// takePrices takes the prices of a scenario's pools that may hold the service.
func (f *Files) takePrices(s *scenarios.Scenario, v *service.Spec, r *Request) {
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Price.Known || v.Pools != nil && !slices.Contains(v.Pools, c.Name) {
			continue
		}
		switch price := c.Price.Rate.Decimal(); {
		case c.Kind == simulate.OnDemand && f.Vary.Price == "":
			f.Vary.Price = price
		case c.Kind == simulate.Reserved && c.Term != "" && c.Price.Rate > 0 && !f.named:
			r.Market.Terms = append(r.Market.Terms, fmt.Sprintf("%s=%s@%s", c.Name, c.Term, price))
		}
	}
}

// Fill reads the files into r: its name, load and choices, and the promise of the service.
func (f *Files) Fill(ctx context.Context, open trace.Opener, r *Request) error {
	if f.Days < 0 || f.Days > 366 {
		return &capcli.RequestError{Field: "days", Text: fmt.Sprintf("wants 1 to 366, found %d", f.Days)}
	}
	f.named = len(r.Market.Terms) > 0
	s, err := f.readService(open, r)
	if err != nil {
		return err
	}
	if f.Requests == "" && s.Requests == nil {
		return &capcli.RequestError{Field: "requests", Text: "wants the file of requests to size for, and the service does not say which come", Hint: "requests=requests.csv, with the columns arrival_us, tokens_in, tokens_out"}
	}
	notes, err := f.fillChoices(s, r)
	if err != nil {
		return err
	}
	if f.Requests == "" {
		if err := f.fillOwn(ctx, open, s, r); err != nil {
			return err
		}
		return r.noteAll(notes)
	}
	rows, err := requests.ReadFile(ctx, open, f.Requests, f.Read)
	if err != nil {
		return err
	}
	if rows.Start != requests.NoStart {
		r.Start = rows.Start
	}
	r.Input, r.Load = f.Requests, s.RequestsFrom(rows)
	return r.noteAll(append(notes, rows.Report.Remarks()...))
}

// fillChoices fills in the name, the choices and the promise of the service.
func (f *Files) fillChoices(s *service.Spec, r *Request) (notes []string, err error) {
	if s.Prefill != nil {
		return nil, &capcli.InputError{File: f.Spec, Field: "prefill", Text: "replicas for prompts alone are not sized", Hint: "leave prefill out, or try numbers of both with capcli service replay"}
	}
	if r.Choices, notes, err = f.Vary.Choices(s); err != nil {
		return nil, capcli.NameFile(err, f.Spec)
	}
	r.Service, r.GPUModel = cmp.Or(s.Name, f.Spec), s.Request.GPU.Name
	if r.Usual = s.Share * 1000; r.Usual == 0 {
		r.Usual = 990_000
	}
	return notes, nil
}

// fillOwn fills in the requests that the service says come: all of a trace, or the hours of a curve.
func (f *Files) fillOwn(ctx context.Context, open trace.Opener, s *service.Spec, r *Request) error {
	o := service.Opening{Start: f.start, Seed: f.Seed, Note: r.Note, Open: func(name string) (trace.Input, io.Closer, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(f.Spec), name)
		}
		return open(name)
	}}
	r.Input = f.Spec
	if s.Requests.From == "" {
		return capcli.NameFile(r.drawWindows(ctx, s, o, max(1, f.Days)), f.Spec)
	}
	src, err := s.Traffic(ctx, o)
	if err != nil {
		return err
	}
	until := src.Length()
	until = cmp.Or(until, capcli.Day*capcli.Seconds(max(1, f.Days)))
	r.Input = s.Requests.From
	r.Load, err = traffic.Collect(src, until, requests.MaxRows)
	return err
}

func (r *Request) noteAll(remarks []string) error {
	for _, text := range remarks {
		if r.Note != nil {
			r.Note(text)
		}
	}
	return nil
}
