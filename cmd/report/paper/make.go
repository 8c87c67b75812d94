package paper

import (
	"cmp"
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/play"
)

// Check returns a *capcli.RequestError where there is nothing to make a paper of, or too much.
func (r *Request) Check() error {
	switch n := len(r.Files); {
	case n == 0:
		return &capcli.RequestError{Field: "results", Text: "wants saved results, found none", Hint: "capcli report runs/a plan.json --out meeting.html"}
	case n > maxFiles:
		return &capcli.RequestError{Field: "results", Text: fmt.Sprintf("wants at most %d saved results, found %d", maxFiles, n)}
	}
	seen := map[string]bool{}
	for i := range r.Files {
		if name := r.Files[i].Name; seen[name] {
			return &capcli.RequestError{Field: "results", Text: "wants each result once, found " + name + " twice"}
		}
		seen[r.Files[i].Name] = true
	}
	return nil
}

// Make makes the paper of a request. It fails with *capcli.InputError where a file is no result, and
// where results are in different currencies.
func Make(r *Request) (*Paper, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m, err := newMaterial(r.Files)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	p := &Paper{
		Schema: Schema, Version: r.Version, Title: r.Title, Command: r.Command, Seed: m.seed(),
		Figures: []figure.Figure{}, Tables: []Table{}, Assumptions: m.assumptions(), Inputs: inputsOf(r.Files),
	}
	if p.Title == "" {
		p.Title = m.title()
	}
	p.Answer = m.answer()
	missing := []string{}
	for _, d := range Drawings() {
		if d.Only != nil && !d.Only(m) {
			continue
		}
		figures, why := d.Draw(m)
		for i := range figures {
			if err := figures[i].Check(); err != nil {
				return nil, fmt.Errorf("a picture of %s is wrong, which is a bug: %w", p.Title, err)
			}
		}
		p.Figures = append(p.Figures, figures...)
		switch {
		case why != "":
			missing = append(missing, fmt.Sprintf("%s: %s", d.ID, why))
		case len(figures) == 0:
			missing = append(missing, fmt.Sprintf("%s is left out: it needs %s", d.ID, d.Needs))
		}
	}
	if p.Tables = append(p.Tables, m.decisionTables()...); len(m.decisions) > 0 {
		p.Board = &Board{Figures: countOf(p.Figures, boardRank), Tables: len(p.Tables)}
	}
	for _, make := range []func() (Table, bool){m.plansTable, m.mixesTable, m.limitsTable, m.futuresTable, m.purchasesTable, m.contractsTable, m.tenantsTable, m.breakEvenTable, m.unservedTable} {
		if t, ok := make(); ok {
			p.Tables = append(p.Tables, t)
		}
	}
	p.Warnings, p.Notes = m.warnings(), append(m.remarks(), missing...)
	p.Glossary = glossary(p)
	return p, nil
}

// countOf returns the number of figures that drawings of a rank below most made. Figures are in the order
// of the ranks.
func countOf(figures []figure.Figure, most int) int {
	n := 0
	for _, d := range Drawings() {
		for n < len(figures) && d.Rank < most && strings.HasPrefix(figures[n].ID, d.ID) {
			n++
		}
	}
	return n
}

// title returns the title of a paper that has none: the scenario that it is about.
func (m *material) title() string {
	switch {
	case len(m.decisions) > 0:
		return "GPUs to reserve: " + m.decisions[0].Doc.GPU
	case len(m.mixes) > 0:
		return "GPUs to reserve: " + cmp.Or(m.mixes[0].Doc.Scenario, "plan")
	case len(m.services) > 0:
		return "GPUs to serve " + m.services[0].Doc.Service
	case len(m.futures)+len(m.curves)+len(m.joints) > 0:
		return "GPUs to reserve"
	case len(m.trials) > 0:
		return "GPU capacity: " + m.trials[0].Runs[0].Scenario
	case len(m.forecasts) > 0:
		return "GPU demand: " + strings.Join(m.forecasts[0].Doc.Input, ", ")
	}
	return "Simulated against recorded waits"
}

// seed returns the seed of the first result that has one.
func (m *material) seed() uint64 {
	switch {
	case len(m.decisions) > 0:
		return m.decisions[0].Doc.Seed
	case len(m.mixes) > 0:
		return m.mixes[0].Doc.Seed
	case len(m.trials) > 0:
		return m.trials[0].Runs[0].Seed
	case len(m.forecasts) > 0:
		return m.forecasts[0].Doc.Seed
	}
	return 0
}

// inputsOf lists the results with their checksums, and after each folder of runs what it was made
// from.
func inputsOf(files []File) []Input {
	out := []Input{}
	seen := map[Input]bool{}
	put := func(in Input) {
		if !seen[in] {
			seen[in] = true
			out = append(out, in)
		}
	}
	for i := range files {
		f := &files[i]
		put(Input{File: f.Name, SHA256: play.Checksum(f.Text)})
		if f.Inputs == nil {
			continue
		}
		put(Input{File: f.Inputs.Scenario.File, SHA256: f.Inputs.Scenario.SHA256, Of: f.Name})
		for _, in := range f.Inputs.Files {
			if in.File != f.Inputs.Scenario.File {
				put(Input{File: in.File, SHA256: in.SHA256, Of: f.Name})
			}
		}
	}
	return out
}
