package futures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
)

// writeHint is the hint where a file holds no futures.
const writeHint = "futures are what capcli forecast --paths 200 --out futures.parquet writes: unique_id, path, ds, y"

// Read reads the futures from a file, or draws them around the demand.
func (s *Source) Read(ctx context.Context, from demand.Sources) (*Set, error) {
	if s.File == "" {
		d, err := s.Demand.Read(ctx, from)
		if err != nil {
			return nil, err
		}
		out, err := s.Draw(d.Input, capcli.Grid{Origin: d.Curve.Start, Step: d.Curve.Step}, d.Curve.Levels())
		if err == nil {
			out.Notes, out.Partial = d.Notes, d.Partial
		}
		return out, err
	}
	ask := s.Demand.Request
	ask.Inputs, ask.Curve, ask.Further = []string{s.File}, true, s.columns()
	ask.ID = cmp.Or(ask.ID, idColumns)
	hs, err := demand.Read(ctx, ask, from)
	var bad *capcli.InputError
	if errors.As(err, &bad) && s.Demand.ID == "" && s.File != "-" {
		ask.ID = "path" // of one series, without its name
		again, second := demand.Read(ctx, ask, from)
		switch {
		case second == nil:
			hs, err = again, nil
		case bad.Field == idColumns: // the file has no name column: the fault is another
			err = second
		}
	}
	if errors.As(err, &bad) && strings.Contains(bad.Error(), "path") {
		named := *bad
		named.Hint = writeHint
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	if len(s.Demand.Inputs) > 0 {
		hs.Notes = append(hs.Notes, "the plan is for the futures of "+hs.Inputs[0]+"; --demand is not read")
	}
	return s.fromHistories(hs)
}

// idColumns are the columns that identify a series in a file of futures.
const idColumns = "unique_id,path"

// fromHistories returns the set of the series of a file, whose names have a series and the number
// of a future: "h100/17". It takes the series of the request, else the one called total, else the
// sum of all.
func (s *Source) fromHistories(hs *demand.Histories) (*Set, error) {
	out := &Set{Input: hs.Inputs[0], Notes: hs.Notes, Partial: hs.Partial}
	paths := map[string][]*demand.History{} // by series, then future
	var names []string
	for _, h := range hs.List {
		name, path, err := splitName(h.Name)
		if err != nil || path >= plan.MaxFutures {
			return nil, &capcli.InputError{File: out.Input, Field: "path", Text: fmt.Sprintf("%s: expected the number of a future, from 0 to %d", h.Name, plan.MaxFutures-1), Hint: writeHint}
		}
		if paths[name] == nil {
			names = append(names, name)
		}
		list := paths[name]
		for len(list) <= path {
			list = append(list, nil)
		}
		if list[path] != nil {
			return nil, &capcli.InputError{File: out.Input, Field: "path", Text: fmt.Sprintf("%s: expected each future once, found it twice", h.Name)}
		}
		list[path] = h
		paths[name] = list
	}
	if err := out.pick(s.Demand.Series, names); err != nil {
		return nil, err
	}
	n := len(paths[out.Series[0]])
	if s.Paths > n {
		return nil, &capcli.RequestError{Field: "paths", Text: fmt.Sprintf("%d: %s has %d futures", s.Paths, out.Input, n), Hint: "leave out paths, or write more futures with capcli forecast"}
	}
	if s.Paths > 0 {
		n = s.Paths
	}
	for path := range n {
		if err := out.add(paths, path); err != nil {
			return nil, err
		}
	}
	out.Futures.Grid = curve.Grid(paths[out.Series[0]][0], s.Demand.Step)
	if err := out.check(); err != nil {
		return nil, err
	}
	return out, s.readSignals(out, paths[out.Series[0]][:n])
}

// splitName splits "h100/17" into the series and the number of the future.
func splitName(name string) (series string, path int, err error) {
	i := strings.LastIndexByte(name, '/')
	path, err = strconv.Atoi(name[i+1:])
	if err != nil || path < 0 {
		return "", 0, fmt.Errorf("expected the number of a future, found %q", name[i+1:])
	}
	return name[:max(i, 0)], path, nil
}

// pick chooses the series whose sum the futures are.
func (s *Set) pick(asked string, names []string) error {
	s.Series = names
	switch {
	case asked != "":
		have := capcli.Catalog[struct{}]{Kind: "series"}
		for _, n := range names {
			have.Add(n, "", struct{}{})
		}
		if _, err := have.Get(asked); err != nil {
			return err
		}
		s.Series = []string{asked}
	case len(names) > 1 && slices.Contains(names, "total"):
		s.Notes = append(s.Notes, "the series called total, which has the others in it; --series takes another")
		s.Series = []string{"total"}
	case len(names) > 1:
		s.Notes = append(s.Notes, fmt.Sprintf("the sum of %d series, future by future; --series takes one", len(names)))
	}
	return nil
}

// add adds one future: the sum of its series.
func (s *Set) add(paths map[string][]*demand.History, path int) error {
	var list []*demand.History
	for _, name := range s.Series {
		if path >= len(paths[name]) || paths[name][path] == nil {
			return &capcli.InputError{File: s.Input, Field: "path", Text: fmt.Sprintf("%s: expected futures numbered from 0 without a gap, the same for each series; future %d is missing", name, path), Hint: "write the futures again: capcli forecast … --paths 200 --out futures.parquet"}
		}
		list = append(list, paths[name][path])
	}
	sum, err := curve.Sum(list)
	if err != nil {
		return err
	}
	first := paths[s.Series[0]][0]
	if len(sum) != len(first.Values) || list[0].Stamp(0) != first.Stamp(0) {
		return &capcli.InputError{File: s.Input, Field: "ds", Text: fmt.Sprintf("future %d: expected %d steps from %s as in future 0, found %d from %s", path, len(first.Values), first.StampText(0), len(sum), list[0].StampText(0))}
	}
	s.Futures.Paths = append(s.Futures.Paths, sum)
	return nil
}
